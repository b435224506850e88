import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TimeLimitTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    @Test func `an operation that takes too long after its start is cancelled and fails`() throws {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        let clock = clock
        queue.addTask { try await clock.sleep(for: .seconds(10)) }
        let slow = TaskOperation { try await clock.sleep(for: .seconds(10)) }
        let fast = TaskOperation { try await clock.sleep(for: .seconds(2)) }
        for operation in [slow, fast] {
            operation.setTimeout(.seconds(3), clock: clock)
            queue.addOperation(operation)
        }
        executor.runUntilIdle(advancing: clock)
        #expect(slow.operationOutcome.failure == .timeout(.seconds(3)) && slow.isCancelled)
        #expect(fast.operationOutcome?.description == "succeeded")
        #expect(clock.now.offset == .seconds(15) && clock.sleeperCount == 0)
    }

    /// Takes ten seconds. Its dependencies are read when it is admitted, if it has a policy for failed dependencies.
    private final class Admitted: AsyncOperation, @unchecked Sendable {
        // Sendable: a constant, and a guarded hook.
        let clock: VirtualClock
        let whileAdmitted = Guarded<(@Sendable () -> Void)?>(nil)

        init(_ clock: VirtualClock) { self.clock = clock }

        override var dependencies: [Operation] {
            whileAdmitted.withLock { $0.take() }?()
            return super.dependencies
        }

        override func run() async throws { try await clock.sleep(for: .seconds(10)) }
    }

    @Test(arguments: [false, true])
    func `a deadline that is set while a worker admits the operation is kept`(waitsAfterwards: Bool) {
        let (queue, operation, clock) = (executor.makeQueue(), Admitted(clock), clock)
        operation.dependencyFailurePolicy = .cancel
        if waitsAfterwards {
            operation.addCondition(.notBefore(clock.now.advanced(by: .seconds(10)), clock: clock))
        }
        queue.addOperation(operation)
        operation.whileAdmitted.withLock { hook in
            hook = { [unowned operation] in
                operation.setDeadline(clock.now.advanced(by: .seconds(3)), clock: clock)
            }
        }
        executor.runUntilIdle(advancing: clock)
        #expect(operation.isCancelled && operation.isFinished)
        #expect(clock.now.offset == .seconds(3) && clock.sleeperCount == 0)
    }

    /// Runs a closure when its readiness is read for the n-th time.
    private final class Asked: BlockOperation, @unchecked Sendable {
        // Sendable: guarded.
        let hook = Guarded<(reads: Int, body: @Sendable () -> Void)?>(nil)

        override var isReady: Bool {
            let body = hook.withLock { hook -> (@Sendable () -> Void)? in
                hook?.reads -= 1
                return hook?.reads == 0 ? hook?.body : nil
            }
            body?()
            return super.isReady
        }
    }

    @Test(arguments: [1, 2, 3])
    func `a deadline that is set while the readiness is read is kept`(read: Int) {
        let (queue, operation, clock) = (executor.makeQueue(), Asked {}, clock)
        let dependencies = [Operation(), Operation()]
        for dependency in dependencies { operation.addDependency(dependency) }
        operation.hook.withLock { hook in
            hook = (
                read,
                { [unowned operation] in
                    operation.setDeadline(clock.now.advanced(by: .seconds(3)), clock: clock)
                }
            )
        }
        queue.addOperation(operation)
        operation.removeDependency(dependencies[0])
        operation.willChangeValue(for: \.isReady)
        operation.didChangeValue(for: \.isReady)
        executor.runUntilIdle(advancing: clock)
        #expect(operation.isCancelled && operation.isFinished)
    }

    @Test func `the deadline of a grandchild begins in a waiting group that another thread was adding to its group`() {
        let (queue, outer, child, clock) = (executor.makeQueue(), GroupOperation(), BlockOperation {}, clock)
        let inner = PlacesItsGroup()
        inner.addDependency(Operation())
        inner.hook.withLock { $0 = { queue.addOperation(outer) } }
        child.setDeadline(clock.now.advanced(by: .seconds(3)), clock: clock)
        inner.addChild(child)
        outer.addChild(inner)
        executor.runUntilIdle(advancing: clock)
        #expect(child.isCancelled && !inner.isExecuting)
        outer.cancel()
        executor.runUntilIdle()
        #expect(child.isFinished && inner.isFinished && outer.isFinished)
    }

    /// Runs a closure while it is added to a group.
    private final class PlacesItsGroup: GroupOperation, @unchecked Sendable {
        // Sendable: guarded.
        let hook = Guarded<(@Sendable () -> Void)?>(nil)

        override var isReady: Bool {
            hook.withLock { $0.take() }?()
            return super.isReady
        }
    }

    @Test func `the deadline of a grandchild begins in a waiting group whose group is started by hand`() async {
        let (outer, inner, child) = (GroupOperation(), GroupOperation(), BlockOperation {})
        inner.addDependency(Operation())
        child.setDeadline(clock.now.advanced(by: .seconds(3)), clock: clock)
        inner.addChild(child)
        outer.addChild(inner)
        outer.start()
        while clock.sleeperCount == 0 { await Task.yield() }
        clock.advance(by: .seconds(3))
        while !child.isCancelled { await Task.yield() }
        outer.cancel()
        await outer.waitUntilFinished()
    }

    @Test func `the deadline of a child is measured in steps of the executor that runs the group`() {
        for addsGroupFirst in [true, false] {
            let (queue, group, child) = (executor.makeQueue(), GroupOperation(), BlockOperation {})
            child.addDependency(Operation())
            child.setDeadline(clock.now.advanced(by: .seconds(3)), clock: clock)
            queue.isSuspended = true
            if addsGroupFirst { queue.addOperation(group) }
            group.addChild(child)
            if !addsGroupFirst { queue.addOperation(group) }
            queue.isSuspended = false
            executor.runUntilIdle(advancing: clock)
            #expect(child.isFinished && group.isFinished && clock.sleeperCount == 0)
        }
    }

    @Test func `addTask and run take a time limit, and a limit of zero is over at the start`() async throws {
        let queue = OperationQueue()
        let clock = clock
        let added = queue.addTask(timeout: .zero) { try await clock.sleep(for: .seconds(10)) }
        await #expect(throws: OperationTimeout.timeout(.zero)) { try await added.value }
        #expect(added.isCancelled)
        await #expect(throws: OperationTimeout.timeout(.zero)) {
            try await queue.run(timeout: .zero) { try await clock.sleep(for: .seconds(10)) }
        }
        let inTime = queue.addTask(timeout: .seconds(300)) { 1 }
        #expect(try await inTime.value == 1)
    }

    @Test(arguments: 0..<20)
    func `a time limit counts from the start of the operation, even if its timer runs late`(seed: UInt64) throws {
        let executor = ManualExecutor(seed: seed)
        let (queue, clock) = (executor.makeQueue(), clock)
        let operation = TaskOperation {
            clock.advance(by: .seconds(3))
            try await clock.sleep(for: .seconds(10))
        }
        operation.setTimeout(.seconds(3), clock: clock)
        queue.addOperation(operation)
        executor.runUntilIdle()
        #expect(operation.operationOutcome.failure == .timeout(.seconds(3)) && clock.now.offset == .seconds(3))
    }

    @Test func `an operation that still waits at its deadline ends without running`() throws {
        let queue = executor.makeQueue()
        let hasRun = Guarded(false)
        let operation = BlockOperation { hasRun.withLock { $0 = true } }
        operation.addDependency(Operation())
        operation.setDeadline(clock.now.advanced(by: .seconds(5)), clock: clock)
        queue.addOperation(operation)
        executor.runUntilIdle(advancing: clock)
        #expect(!hasRun.withLock { $0 } && operation.isFinished && clock.now.offset == .seconds(5))
        guard case .deadline? = operation.operationOutcome.failure else {
            Issue.record("\(String(describing: operation.operationOutcome))")
            return
        }
    }

    /// A clock whose sleepers wake late: only when they are cancelled.
    private struct Sleepless: Clock {
        let clock: VirtualClock
        var now: VirtualClock.Instant { clock.now }
        var minimumResolution: Duration { clock.minimumResolution }
        func sleep(until deadline: VirtualClock.Instant, tolerance: Duration?) async throws {
            try await clock.sleep(for: .seconds(86_400))
        }
    }

    @Test func `an operation whose deadline has passed before its start never runs, even if the timer is late`() {
        let queue = executor.makeQueue()
        let clock = Sleepless(clock: clock)
        clock.clock.advance(by: .seconds(10))
        let ran = Guarded(0)
        let operations = [-10, 0, 1].map { seconds in
            let operation = BlockOperation { ran.withLock { $0 += 1 } }
            operation.setDeadline(clock.now.advanced(by: .seconds(seconds)), clock: clock)
            queue.addOperation(operation)
            return operation
        }
        executor.runUntilIdle()
        #expect(operations.map { $0.operationOutcome.failure } == [.deadline, .deadline, nil])
        #expect(ran.withLock { $0 } == 1)

        queue.addOperation { ran.withLock { $0 += 1 } }
        let waiting = BlockOperation { ran.withLock { $0 += 1 } }
        queue.addOperation(waiting)
        queue.setDeadline(clock.now, clock: clock)
        let later = BlockOperation { ran.withLock { $0 += 1 } }
        queue.addOperation(later)
        executor.runUntilIdle()
        #expect(waiting.operationOutcome.failure == .deadline && later.operationOutcome.failure == .deadline)

        let other = executor.makeQueue()
        other.setDeadline(clock.now.advanced(by: .seconds(1)), clock: clock)
        clock.clock.advance(by: .seconds(1))
        let late = BlockOperation { ran.withLock { $0 += 1 } }
        other.addOperation(late)
        executor.runUntilIdle()
        #expect(late.operationOutcome.failure == .deadline && ran.withLock { $0 } == 1)
        other.setDeadline(nil)
    }

    @Test func `a deadline may be set while the operation waits, and it is removed when the operation ends in time`()
        throws
    {
        let queue = executor.makeQueue()
        queue.isSuspended = true
        let late = BlockOperation {}
        let inTime = BlockOperation {}
        let never = Operation()
        late.addDependency(never)
        for operation in [late, inTime] {
            queue.addOperation(operation)
            operation.setDeadline(clock.now.advanced(by: .seconds(5)), clock: clock)
        }
        queue.isSuspended = false
        executor.runUntilIdle()
        #expect(inTime.isFinished && clock.sleeperCount == 1)
        executor.runUntilIdle(advancing: clock)
        #expect(late.isFinished && late.operationOutcome.failure != nil && inTime.operationOutcome.failure == nil)
    }

    @Test func `work that ignores the timeout continues, and its outcome is the timeout`() async throws {
        let queue = executor.makeQueue()
        let clock = clock
        let operation = TaskOperation {
            try? await clock.sleep(for: .seconds(10))
            return 1
        }
        operation.setTimeout(.seconds(1), clock: clock)
        queue.addOperation(operation)
        executor.runUntilIdle(advancing: clock)
        #expect(operation.operationOutcome.failure == .timeout(.seconds(1)))
        await #expect(throws: OperationTimeout.timeout(.seconds(1))) { try await operation.value }
    }

    @Test func `an operation with an earliest start does not start early`() {
        let queue = executor.makeQueue()
        let log = Journal<Int64>()
        let clock = clock
        let operation = BlockOperation { log.append(clock.now.offset.components.seconds) }
        operation.addCondition(.notBefore(clock.now.advanced(by: .seconds(30)), clock: clock))
        queue.addOperation(operation)
        executor.runUntilIdle(advancing: clock)
        #expect(log.entries == [30])
    }

    @Test func `an operation with a time limit is released, whether it ran or not`() throws {
        for runs in [true, false] {
            var operation: Operation? = BlockOperation {}
            let weakOperation = Weak(operation)
            operation!.setTimeout(.seconds(1), clock: clock)
            operation!.setDeadline(clock.now.advanced(by: .seconds(1)), clock: clock)
            if runs {
                executor.makeQueue().addOperation(operation!)
                executor.runUntilIdle()
            }
            operation = nil
            executor.runUntilIdle()
            #expect(weakOperation.isGone)
        }
    }

    @Test(arguments: [Duration.zero, .seconds(-1), .seconds(Int64.min)])
    func `a limit of zero or less is over at the start`(limit: Duration) {
        let operation = TaskOperation { try await clock.sleep(for: .seconds(1)) }
        operation.setTimeout(limit, clock: clock)
        executor.makeQueue().addOperation(operation)
        executor.runUntilIdle(advancing: clock)
        #expect(operation.operationOutcome.failure == .timeout(limit))
    }

    @Test func `a limit that is set after the start is an error`() {
        let operation = BlockOperation {}
        operation.start()
        #expect(throws: OperationError.self) { try operation.trySetTimeout(.seconds(1)) }
        #expect(throws: OperationError.self) { try operation.trySetDeadline(.now, clock: ContinuousClock()) }
    }
}

extension Optional<OperationOutcome> {
    fileprivate var failure: OperationTimeout? {
        guard case .failed(let error) = self else { return nil }
        return error as? OperationTimeout
    }
}
