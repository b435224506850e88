@testable import Operations
import SchedulerCore
import TestSupport
import Testing

/// Rule A10: a queue keeps no state of an operation that has left it.
@Suite(.timeLimit(.minutes(5))) struct KeysLeftTests {
    @Test(arguments: [false, true]) func `a queue keeps no key of an operation that has left`(isCancelled: Bool) {
        let queue = OperationQueue()
        queue.isSuspended = true
        for number in 0..<5 {
            let operation = BlockOperation {}
            queue.addOperation(operation, limitKey: "key \(number)")
            if isCancelled { operation.cancel() }
        }
        #expect(memberCount(queue) == 5)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(memberCount(queue) == 0)
        #expect(queue.withState { $0.policies.first(KeyPolicy.self)?.turnstile.isEmpty } == true)
    }

    private func memberCount(_ queue: OperationQueue) -> Int? {
        queue.withState { $0.policies.first(KeyPolicy.self)?.memberCount }
    }
}
