import Operations
import TestSupport
import Testing

/// Rules K2, K6, for operations and queues: each call before a change has one after it, in turn.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ObservePriorTests {
    private func areInTurn(_ calls: [Bool]) -> Bool {
        calls.count % 2 == 0 && calls.enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0) }
    }

    @Test func `four threads set a concurrency limit, and each change has a call before`() {
        let (queue, calls) = (OperationQueue(), Journal<Bool>())
        let token = queue.observe(\.maxConcurrentOperationCount, options: .prior) { calls.append($1.isPrior) }
        let threads = (1...4).map { width in
            TestThread { for _ in 0..<500 { queue.maxConcurrentOperationCount = width } }
        }
        for thread in threads { thread.join() }
        #expect(calls.entries.count == 4000 && areInTurn(calls.entries))
        token.invalidate()
    }

    @Test func `adding a present dependency, or removing an absent one, makes no call before without one after`() {
        let (operation, dependency, calls) = (Operation(), Operation(), Journal<Bool>())
        let token = operation.observe(\.dependencies, options: [.prior, .old, .new]) { calls.append($1.isPrior) }
        operation.removeDependency(dependency)
        operation.addDependency(dependency)
        operation.addDependency(dependency)
        operation.removeDependency(dependency)
        #expect(calls.entries.count >= 4 && areInTurn(calls.entries))
        token.invalidate()
    }

    @Test func `threads that cancel, and the end of the operation, keep the calls in turn`() async {
        let queue = OperationQueue()
        for _ in 0..<500 {
            let (operation, calls) = (BlockOperation {}, Journal<Bool>())
            let token = operation.observe(\.isCancelled, options: .prior) { calls.append($1.isPrior) }
            let threads = (0..<2).map { _ in TestThread { operation.cancel() } }
            queue.addOperation(operation)
            for thread in threads { thread.join() }
            await operation.waitUntilFinished()
            #expect(areInTurn(calls.entries))
            token.invalidate()
        }
    }
}
