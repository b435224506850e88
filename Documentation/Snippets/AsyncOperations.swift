import Operations

let queue = OperationQueue()
let isOnline = OperationCondition("online") { true }
let (url, urls, page) = ("", [""], 1)
func fetch(_ url: String) async throws -> [UInt8] { [] }
func fetch(_ page: Int) async throws -> [UInt8] { [] }
func scale(_ photo: [UInt8]) async throws -> [UInt8] { photo }
func draw(_ page: Int) async throws {}
func measure() async throws -> Int { 0 }
func show(_ photo: [UInt8]) {}
