import Operations

struct Address: Sendable { let host = "" }

let queue = OperationQueue()
let (download, url) = (BlockOperation {}, Address())
let links = AsyncStream<Address> { nil }
func fetch(_ url: Address) async throws {}
