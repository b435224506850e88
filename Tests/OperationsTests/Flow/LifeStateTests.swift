import Operations
import Synchronization
import TestSupport
import Testing

/// Rules L1–L6: the states of an operation, and its start.
@Suite(.timeLimit(.minutes(5))) struct LifeStateTests {
    private struct Seen: Equatable, Sendable {
        var isExecuting: Bool
        var isFinished: Bool
    }

    private final class Witness: Operation, @unchecked Sendable {
        let log = Journal<Seen>()
        let threads = Journal<ThreadIdentity>()

        override func main() {
            threads.append(.current)
            log.append(Seen(isExecuting: isExecuting, isFinished: isFinished))
        }
    }

    /// Rule L1.
    @Test func `an operation runs at most once`() {
        let operation = CountingOperation()
        operation.start()
        operation.start()
        #expect(operation.runCount == 1)
        let queue = OperationQueue()
        #expect(throws: OperationError.self) { try queue.tryAddOperation(operation) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.runCount == 1)
    }

    /// Rule L1.
    @Test(.tags(.threads)) func `threads that start one operation by hand at once run it once`() {
        for _ in 0..<300 {
            let operation = CountingOperation()
            let meeting = Gate(2)
            let refused = Atomic(0)
            let other = TestThread {
                meeting.meet()
                try? operation.tryStart()
            }
            meeting.meet()
            do { try operation.tryStart() } catch { refused.add(1, ordering: .relaxed) }
            other.join()
            #expect(operation.runCount == 1)
            #expect(operation.isFinished)
        }
    }

    /// Rule L2.
    @Test func `the states exclude each other`() {
        let operation = Witness()
        #expect(operation.isReady && !operation.isExecuting && !operation.isFinished)
        operation.start()
        #expect(operation.log.entries == [Seen(isExecuting: true, isFinished: false)])
        #expect(operation.isFinished && !operation.isExecuting)
    }

    /// Rule L2.
    @Test func `an operation with an unfinished dependency is not ready`() {
        let operation = Operation()
        let dependency = Operation()
        operation.addDependency(dependency)
        #expect(!operation.isReady && !operation.isExecuting && !operation.isFinished)
        dependency.start()
        #expect(operation.isReady)
    }

    /// Rule L2.
    @Test func `isCancelled is independent of the state and never returns to false`() {
        let operation = GatedOperation()
        let queue = OperationQueue()
        queue.addOperation(operation)
        operation.began.pass()
        operation.cancel()
        #expect(operation.isCancelled && operation.isExecuting)
        operation.mayEnd.open()
        operation.waitUntilFinished()
        #expect(operation.isCancelled && operation.isFinished && !operation.isExecuting)
    }

    /// Rule L3.
    @Test func `a cancelled operation skips main and finishes when started`() {
        let operation = CountingOperation()
        operation.cancel()
        #expect(!operation.isFinished)
        operation.start()
        #expect(operation.runCount == 0)
        #expect(operation.isFinished && !operation.isExecuting && operation.isCancelled)
    }

    private final class DoneByItsOwnWord: CountingOperation, @unchecked Sendable {
        override var isFinished: Bool { true }
    }

    /// Rules L3 and L14.
    @Test func `an operation whose overridden isFinished is true does not call main`() {
        let operation = DoneByItsOwnWord()
        operation.start()
        #expect(operation.runCount == 0)
    }

    private final class NeverReady: CountingOperation, @unchecked Sendable {
        override var isReady: Bool { false }
    }

    /// Rule L3.
    @Test func `a cancelled operation may be started although its overridden isReady is false`() throws {
        let operation = NeverReady()
        operation.cancel()
        try operation.tryStart()
        #expect(operation.isFinished)
        #expect(operation.runCount == 0)
    }

    /// Rule L4.
    @Test func `main does nothing by default`() {
        let byHand = Operation()
        byHand.start()
        #expect(byHand.isFinished)
        let queued = Operation()
        OperationQueue().addOperation(queued)
        queued.waitUntilFinished()
        #expect(queued.isFinished && !queued.isCancelled)
    }

    /// Rule L5.
    @Test func `start by hand runs in the calling thread and returns with the work done`() {
        let operation = Witness()
        operation.start()
        #expect(operation.threads.entries == [.current])
        #expect(operation.isFinished)
    }

    /// Rule L5.
    @Test func `an operation started by hand inside another runs there`() {
        let inner = Witness()
        let log = Journal<ThreadIdentity>()
        let outer = BlockOperation {
            inner.start()
            log.append(.current)
        }
        OperationQueue.serial().addOperation(outer)
        outer.waitUntilFinished()
        #expect(inner.threads.entries == log.entries)
    }

    private final class Claimant: Operation, @unchecked Sendable {
        let says: Bool
        let threads = Journal<ThreadIdentity>()
        init(_ says: Bool) { self.says = says }
        override var isAsynchronous: Bool { says }
        override func main() { threads.append(.current) }
    }

    /// Rule L6.
    @Test(arguments: [true, false])
    func `a queue never runs an operation on the thread that adds it, regardless of isAsynchronous`(says: Bool) {
        for queue in [OperationQueue(), .serial()] {
            let operations = (0..<20).map { _ in Claimant(says) }
            operations.forEach(queue.addOperation)
            queue.waitUntilAllOperationsAreFinished()
            #expect(operations.allSatisfy { $0.isFinished && $0.threads.entries.count == 1 })
            #expect(operations.allSatisfy { $0.threads.entries != [.current] })
        }
    }
}
