// A test of retries over an hour that takes no time, and that is repeated in 100 orders.

import Operations
import OperationsTesting

enum ServiceError: Error { case busy }

actor Service {
    private(set) var calls = 0
    func call() throws {
        calls += 1
        if calls < 4 { throw ServiceError.busy }
    }
}

@main struct TestWithoutTime {
    static func main() async throws {
        try ManualExecutor.explore(seeds: 0..<100) { executor in
            let (clock, service) = (VirtualClock(), Service())
            let queue = executor.makeQueue(name: "work", maxConcurrentOperationCount: 1)
            let policy = RetryPolicy(retries: 5, backoff: .constant(.seconds(1200)), jitter: .none)
            let work = queue.addTask { try await policy.run(clock: clock) { _ in try await service.call() } }
            executor.runUntilIdle(advancing: clock)
            // Three failures, and so three delays of twenty minutes.
            precondition(work.operationOutcome == .succeeded && clock.now.offset == .seconds(3600))
            precondition(executor.unfinished.isEmpty, "\(executor.unfinished)")
        }
        print("an hour of retries, in 100 orders")
    }
}
