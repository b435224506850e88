import Operations

struct Part: Sendable { let name = "" }

let queue = OperationQueue()
let (parse, store, show) = (BlockOperation {}, BlockOperation {}, BlockOperation {})
let fetch = BlockOperation {}
let urls = [""]
func fetch(_ url: String) async throws -> [UInt8] { [] }
func parts() async throws -> [Part] { [] }
func pack(_ part: Part) async throws {}
