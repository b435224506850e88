import Operations
import Synchronization
import TestSupport
import Testing

/// Rule A12: `cancelAllOperations` starts the work of no operation that it cancels, and the queue keeps running meanwhile.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct CancelAllWhileRunningTests {
    /// Counts the calls of `cancel()`, and runs a closure in them.
    private final class InCancel: CountingOperation, @unchecked Sendable {
        // Sendable: atomic, and a constant.
        private let cancels = Atomic(0)
        private let body: @Sendable () -> Void

        init(_ body: @escaping @Sendable () -> Void = {}) { self.body = body }

        override func cancel() {
            cancels.add(1, ordering: .relaxed)
            super.cancel()
            body()
        }

        var cancelCount: Int { cancels.load(ordering: .relaxed) }
    }

    @Test(arguments: [1, 2, -1])
    func `an overridden cancel may cancel another member and wait for it`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let partner = InCancel()
        let operation = InCancel {
            partner.cancel()
            partner.waitUntilFinished()
        }
        let never = Operation()
        for member in [operation, partner] {
            member.addDependency(never)
            queue.addOperation(member)
        }
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.runCount == 0 && partner.runCount == 0)
    }

    @Test(arguments: [1, 2])
    func `an observer of a cancellation may wait for a member that is not yet cancelled`(width: Int) {
        let held = HeldQueue(width: width)
        let (first, second) = (InCancel(), InCancel())
        held.queue.addOperations([first, second], waitUntilFinished: false)
        let token = first.observe(\.isCancelled) { _, _ in
            held.freeOne()
            second.waitUntilFinished()
        }
        held.queue.cancelAllOperations()
        held.release()
        token.invalidate()
        #expect(second.isCancelled && second.cancelCount == 1 && second.runCount == 0)
        #expect(first.cancelCount == 1 && first.runCount == 0)
    }

    @Test(arguments: [1, 2, -1])
    func `an operation that is added during the cancellation of another one runs`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        let operation = InCancel {
            let ran = Gate()
            queue.addOperation { ran.open() }
            ran.pass()
        }
        operation.addDependency(Operation())
        queue.addOperation(operation)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.cancelCount == 1 && operation.runCount == 0)
    }

    @Test(arguments: [1, 2])
    func `only the worker that reaches a member first calls its cancel`(width: Int) {
        let held = HeldQueue(width: width)
        let others = (0..<20).map { _ in InCancel() }
        let first = InCancel {
            held.freeOne()
            others.forEach { $0.waitUntilFinished() }
        }
        held.queue.addOperations([first] + others, waitUntilFinished: false)
        held.queue.cancelAllOperations()
        held.release()
        #expect(others.allSatisfy { $0.cancelCount == 1 && $0.isCancelled && $0.runCount == 0 })
    }

    /// A worker holds no slot while it calls `cancel()`.
    @Test func `an overridden cancel that a worker calls may wait for another operation of a serial queue`() {
        let held = HeldQueue()
        let last = InCancel()
        let second = InCancel { last.waitUntilFinished() }
        let first = InCancel {
            held.freeOne()
            second.waitUntilFinished()
        }
        held.queue.addOperations([first, second, last], waitUntilFinished: false)
        held.queue.cancelAllOperations()
        held.release()
        #expect([first, second, last].allSatisfy { $0.cancelCount == 1 && $0.runCount == 0 })
    }

    /// Rule A1: the work may continue after `main()`, until `isFinished` is announced.
    private final class WorksOn: Operation, @unchecked Sendable {
        // Sendable: atomic.
        private let isOver = Atomic(false)
        let (mainHasReturned, calls) = (Gate(), Journal<Int>())

        override var isFinished: Bool { isOver.load(ordering: .acquiring) && super.isFinished }

        override func start() {
            super.start()
            mainHasReturned.open()
        }

        override func cancel() {
            super.cancel()
            calls.append(0)
            willChangeValue(for: \.isFinished)
            isOver.store(true, ordering: .releasing)
            didChangeValue(for: \.isFinished)
        }
    }

    @Test func `an operation whose work continues after main is cancelled with its queue`() {
        let (queue, operation) = (OperationQueue(), WorksOn())
        queue.addOperation(operation)
        operation.mainHasReturned.pass()
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.calls.entries.count == 1)
    }

    private final class OwnFlag: Operation, @unchecked Sendable {
        // Sendable: atomic.
        private let flag = Atomic(false)
        private let seen = Atomic(false)
        let before: @Sendable () -> Void
        init(before: @escaping @Sendable () -> Void) { self.before = before }

        override func cancel() {
            before()
            flag.store(true, ordering: .releasing)
        }
        override func main() { seen.store(flag.load(ordering: .acquiring), ordering: .releasing) }
        var hasSeenFlag: Bool { seen.load(ordering: .acquiring) }
    }

    @Test func `an operation whose cancel only sets its own flag does not start before cancel has returned`() {
        let held = HeldQueue()
        let operation = OwnFlag {
            held.freeOne()
            OperationQueue.settle()
        }
        held.queue.addOperation(operation)
        held.queue.cancelAllOperations()
        held.queue.waitUntilAllOperationsAreFinished()
        #expect(operation.hasSeenFlag)
    }

    @Test(arguments: [true, false])
    func `a cancel may wait for a member that waits for something itself`(dependsOnCaller: Bool) {
        let queue = OperationQueue()
        let last = InCancel()
        let first = InCancel { last.waitUntilFinished() }
        let never = Operation()
        first.addDependency(never)
        last.addDependency(dependsOnCaller ? never : InCancel())
        queue.addOperations([first, last], waitUntilFinished: false)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
        #expect([first, last].allSatisfy { $0.cancelCount == 1 && $0.isCancelled && $0.runCount == 0 })
    }

    @Test func `the caller does not cancel an operation while another thread runs its overridden cancel`() {
        let held = HeldQueue()
        let (entered, mayReturn) = (Gate(), Gate())
        let second = OwnFlag {
            entered.open()
            mayReturn.pass()
        }
        let first = InCancel {
            held.freeOne()
            entered.pass()
        }
        held.queue.addOperations([first, second], waitUntilFinished: false)
        held.queue.cancelAllOperations()
        #expect(!second.isCancelled)
        mayReturn.open()
        held.release()
        #expect(second.hasSeenFlag && !second.isCancelled && first.isCancelled)
    }

    @Test func `every member that overrides nothing is cancelled when cancelAllOperations has returned`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 2
        for _ in 0..<300 {
            let members: [Operation] = (0..<8).map { $0 < 4 ? BlockOperation {} : InCancel() }
            let plain = members.prefix(4)
            queue.addOperations(members, waitUntilFinished: false)
            let other = TestThread { queue.cancelAllOperations() }
            let unfinished = plain.filter { !$0.isFinished }
            queue.cancelAllOperations()
            #expect(unfinished.allSatisfy { $0.isCancelled || $0.isFinished })
            other.join()
            queue.waitUntilAllOperationsAreFinished()
            #expect(members.dropFirst(4).allSatisfy { ($0 as? InCancel)?.runCount == 1 || $0.isCancelled })
        }
    }

    @Test func `a cancelled operation with a condition, a key or a resource ends`() {
        let queue = OperationQueue()
        for _ in 0..<100 {
            let conditional = InCancel()
            conditional.addCondition(OperationCondition("yes") { true })
            let exclusive = InCancel()
            exclusive.addRequirement(.exclusive("cancelled with its queue"))
            queue.addOperation(conditional)
            queue.addOperation(exclusive)
            let keyed = InCancel()
            queue.addOperation(keyed, limitKey: "key")
            queue.cancelAllOperations()
            queue.waitUntilAllOperationsAreFinished()
        }
    }
}
