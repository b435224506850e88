import Operations

enum NetworkError: Error { case busy }

final class Download: Operation, @unchecked Sendable {
    init(_ url: String) {}
}

let queue = OperationQueue()
let clock = ContinuousClock()
let policy = RetryPolicy(retries: 1)
let url = ""
func draw(_ attempt: Int) async throws {}
