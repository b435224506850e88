import Operations

struct Source: Sendable { func next() async throws -> [UInt8]? { nil } }
struct Target: Sendable { func append(_ chunk: [UInt8]) async throws {} }

let queue = OperationQueue()
let (source, target) = (Source(), Target())
