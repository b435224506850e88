import Operations

let queue = OperationQueue()
let save = BlockOperation {}
let url = ""
func fetch(_ url: String) async throws -> [UInt8] { [] }
func scale(_ photo: [UInt8]) async throws -> [UInt8] { photo }
func show(_ photo: [UInt8]) {}
