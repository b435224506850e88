import Testing

#if PLAIN_FOUNDATION
import Foundation
#else
import OperationsFoundation
#endif

/// The style of a group: an operation with its own suspended queue, which the operation resumes when it starts. A last
/// operation depends on all others and ends the group.
final class InnerQueueGroup: FlagsOperation, @unchecked Sendable {
    // Sendable: constants.
    private let inner = OperationQueue()
    private let last = BlockOperation()

    init(_ operations: [Operation]) {
        super.init()
        inner.isSuspended = true
        for operation in operations { add(operation) }
        last.completionBlock = { [weak self] in self?.finish() }
    }

    func add(_ operation: Operation) {
        last.addDependency(operation)
        inner.addOperation(operation)
    }

    override func work() {
        inner.addOperation(last)
        inner.isSuspended = false
    }

    override func cancel() {
        super.cancel()
        inner.cancelAllOperations()
        if !isExecuting { inner.isSuspended = false }
    }
}

@Suite(.timeLimit(.minutes(1))) struct GroupStyle {
    @Test func `no child of a group runs before its start, and the group ends after the last child`() {
        let (queue, log) = (OperationQueue(), Log())
        let group = InnerQueueGroup((0..<4).map { _ in BlockOperation { log.append("child") } })
        let before = BlockOperation { log.append("before") }
        let after = BlockOperation { log.append("after") }
        group.addDependency(before)
        after.addDependency(group)
        queue.addOperations([after, group], waitUntilFinished: false)
        #expect(log.entries.isEmpty)
        queue.addOperation(before)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["before", "child", "child", "child", "child", "after"])
    }

    @Test func `groups nest`() {
        let (queue, log) = (OperationQueue(), Log())
        let inner = InnerQueueGroup([BlockOperation { log.append("innermost") }])
        let outer = InnerQueueGroup([InnerQueueGroup([inner]), BlockOperation { log.append("outer") }])
        queue.addOperations([outer], waitUntilFinished: true)
        #expect(log.entries.sorted() == ["innermost", "outer"])
    }

    @Test func `a child may add others while the group runs`() {
        let (queue, log) = (OperationQueue(), Log())
        let group = InnerQueueGroup([])
        let added = BlockOperation { log.append("added") }
        group.add(BlockOperation { [unowned group] in group.add(added) })
        queue.addOperations([group], waitUntilFinished: true)
        #expect(log.entries == ["added"])
    }

    @Test func `a group that is cancelled before it starts runs no child`() {
        let (queue, log) = (OperationQueue(), Log())
        let child = BlockOperation { log.append("child") }
        let group = InnerQueueGroup([child])
        queue.isSuspended = true
        queue.addOperation(group)
        group.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        child.waitUntilFinished()
        #expect(log.entries.isEmpty && child.isCancelled && group.isFinished)
    }
}
