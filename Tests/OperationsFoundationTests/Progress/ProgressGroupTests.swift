import Operations
import OperationsFoundation
import OperationsTesting
import TestSupport
import Testing

/// Groups and retries in the progress of their queue, and steering from that progress.
@Suite(.timeLimit(.minutes(5))) struct ProgressGroupTests {
    private let executor = ManualExecutor()

    @Test func `the children of a running group are fractions of its unit`() {
        let queue = executor.makeQueue()
        queue.progress.totalUnitCount = 2
        let gates = (0..<4).map { _ in AsyncGate() }
        let group = GroupOperation()
        for gate in gates { group.addChildTask { await gate.pass() } }
        queue.addOperation(group)
        executor.runUntilIdle()
        #expect(group.progress.totalUnitCount == 4)
        #expect(queue.progress.fractionCompleted == 0)
        for (index, gate) in gates.enumerated() {
            gate.open()
            while group.progress.completedUnitCount <= index { executor.runUntilIdle() }
            let expected = 0.5 * Double(index + 1) / 4
            if index < 3 { #expect(queue.progress.fractionCompleted == expected) }
        }
        while !group.isFinished { executor.runUntilIdle() }
        #expect(queue.progress.fractionCompleted == 0.5)
        #expect(queue.progress.completedUnitCount == 1)
        #expect(group.progress.fractionCompleted == 1)
    }

    @Test func `a group in a group is a fraction of a fraction`() {
        let queue = executor.makeQueue()
        queue.progress.totalUnitCount = 1
        let gate = AsyncGate()
        let inner = GroupOperation()
        inner.addChildTask {}
        inner.addChildTask { await gate.pass() }
        let outer = GroupOperation { [inner] }
        outer.addChildTask { await gate.pass() }
        queue.addOperation(outer)
        executor.runUntilIdle()
        while inner.progress.completedUnitCount < 1 { executor.runUntilIdle() }
        #expect(outer.progress.fractionCompleted == 0.25)
        #expect(queue.progress.fractionCompleted == 0.25)
        gate.open()
        while !outer.isFinished { executor.runUntilIdle() }
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test func `a retry is one unit, which is complete after the last attempt and not during a delay`() {
        struct Failed: Error {}
        let (queue, clock) = (executor.makeQueue(), VirtualClock())
        queue.progress.totalUnitCount = 2
        let policy = RetryPolicy(retries: 1, backoff: .constant(.seconds(10)), jitter: .none)
        queue.addOperation(
            RetryOperation(policy, clock: clock) { number in TaskOperation { if number == 1 { throw Failed() } } })
        executor.runUntilIdle()
        #expect(clock.sleeperCount == 1 && queue.progress.completedUnitCount == 0)
        executor.runUntilIdle(advancing: clock)
        #expect(queue.progress.completedUnitCount == 1 && queue.progress.fractionCompleted == 0.5)
    }

    @Test func `the progress of a group keeps its parent when the group runs in a queue with a progress`() {
        let (queue, other, group) = (executor.makeQueue(), executor.makeQueue(), GroupOperation())
        let gate = AsyncGate()
        group.addChildTask {}
        group.addChildTask { await gate.pass() }
        queue.progress.totalUnitCount = 1
        other.progress.totalUnitCount = 1
        other.progress.addChild(group.progress, withPendingUnitCount: 1)
        queue.addOperation(group)
        while group.progress.completedUnitCount < 1 { executor.runUntilIdle() }
        #expect(other.progress.fractionCompleted == 0.5)
        gate.open()
        while !group.isFinished { executor.runUntilIdle() }
        #expect(other.progress.fractionCompleted == 1 && queue.progress.fractionCompleted == 1)
    }

    @Test func `a progress that was complete can become the child of another parent`() {
        let (queue, first, second) = (executor.makeQueue(), executor.makeQueue(), executor.makeQueue())
        for progress in [queue.progress, first.progress, second.progress] { progress.totalUnitCount = 1 }
        first.progress.addChild(queue.progress, withPendingUnitCount: 1)
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(first.progress.fractionCompleted == 1)
        queue.progress.totalUnitCount = 2
        second.progress.addChild(queue.progress, withPendingUnitCount: 1)
        #expect(second.progress.fractionCompleted == 0.5)
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(second.progress.fractionCompleted == 1)
    }

    @Test func `later children reduce the fraction, and cancelled children count as ended`() {
        let group = GroupOperation(policy: .waitForAll)
        let gate = AsyncGate()
        let first = group.addChildTask { await gate.pass() }
        let progress = group.progress
        #expect(progress.totalUnitCount == 1)
        let second = group.addChildTask {}
        #expect(progress.totalUnitCount == 2)
        second.cancel()
        OperationQueue().addOperation(group)
        second.waitUntilFinished()
        while progress.completedUnitCount < 1 { sched_yield() }
        #expect(progress.fractionCompleted == 0.5)
        gate.open()
        group.waitUntilFinished()
        #expect(progress.fractionCompleted == 1)
        withExtendedLifetime(first) {}
    }

    /// An operation that announces its end inside `main()`.
    private final class EarlyOperation: Operation, @unchecked Sendable {
        private let isOver = Guarded(false)
        override var isFinished: Bool { isOver.withLock { $0 } || super.isFinished }
        override func main() {
            willChangeValue(forKey: "isFinished")
            isOver.withLock { $0 = true }
            didChangeValue(forKey: "isFinished")
        }
    }

    @Test func `a child that announces its own end counts once, and a rejected child does not count`() throws {
        let queue = executor.makeQueue()
        let group = GroupOperation()
        let progress = group.progress
        for _ in 0..<3 { group.addChild(EarlyOperation()) }
        let other = BlockOperation {}
        group.addChild(other)
        #expect(throws: OperationError.self) { try group.tryAddChild(other) }
        #expect(progress.totalUnitCount == 4)
        queue.addOperation(group)
        executor.runUntilIdle()
        #expect(group.isFinished)
        #expect(progress.totalUnitCount == 4 && progress.completedUnitCount == 4)
    }

    @Test(.tags(.threads)) func `the last of several concurrent pauses and resumes takes effect`() {
        for _ in 0..<Stress.rounds(200, least: 80) {
            let queue = OperationQueue()
            queue.progress.totalUnitCount = 1
            let group = GroupOperation()
            for _ in 0..<3 { group.addChildTask {} }
            let steering = TestThread {
                for _ in 0..<5 {
                    queue.progress.pause()
                    queue.progress.resume()
                }
            }
            let other = TestThread {
                for _ in 0..<5 {
                    queue.progress.pause()
                    queue.progress.resume()
                }
            }
            queue.addOperation(group)
            steering.join()
            other.join()
            group.waitUntilFinished()
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `cancelling the queue's progress, or the group's, cancels the group and its children`() {
        for ofQueue in [true, false] {
            let queue = OperationQueue()
            queue.progress.totalUnitCount = 1
            let begun = Gate()
            let group = GroupOperation()
            let child = group.addChildTask {
                begun.open()
                while !Task.isCancelled { await Task.yield() }
            }
            queue.addOperation(group)
            begun.pass()
            if ofQueue { queue.progress.cancel() } else { group.progress.cancel() }
            group.waitUntilFinished()
            #expect(group.isCancelled && child.isCancelled)
        }
    }

    @Test func `a group paused before its start does not start; resuming a group in no queue starts no child`() {
        let queue = executor.makeQueue()
        let group = GroupOperation()
        let ran = Journal<Int>()
        group.addChild(BlockOperation { ran.append(1) })
        group.progress.resume()
        #expect(ran.entries.isEmpty)
        group.progress.pause()
        queue.addOperation(group)
        executor.runUntilIdle()
        #expect(!group.isExecuting && ran.entries.isEmpty)
        group.progress.resume()
        while !group.isFinished { executor.runUntilIdle() }
        #expect(ran.entries == [1])
    }

    @Test func `a group that is cancelled while paused ends`() {
        let queue = OperationQueue()
        let group = GroupOperation()
        group.addChildTask {}
        group.progress.pause()
        queue.addOperation(group)
        group.cancel()
        group.waitUntilFinished()
        #expect(group.isFinished)
    }

    /// A walk to the queue's progress at each change would take minutes.
    @Test func `the time for nested groups in a queue with a progress does not grow with the square of the depth`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        var group = GroupOperation { [BlockOperation {}] }
        for _ in 1..<Stress.rounds(5_000, least: 700) {
            let inner = group
            group = GroupOperation { [inner] }
        }
        queue.addOperation(group)
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test func `a change of the innermost of nested groups changes the queue's progress at once`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 1
        let child = BlockOperation {
            let child = Progress(totalUnitCount: 2)
            #expect(queue.progress.fractionCompleted == 0)
            child.completedUnitCount = 1
            #expect(queue.progress.fractionCompleted == 0.5)
        }
        let outer = GroupOperation { [GroupOperation { [GroupOperation { [child] }] }] }
        queue.addOperation(outer)
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.fractionCompleted == 1)
    }
}
