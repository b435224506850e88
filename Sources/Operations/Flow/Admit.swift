// Between ready and start: what is gated is looked at once more when it has been claimed, without a lock: what became of
// its dependencies, its conditions, its resources. What has to wait gives its slot back and is among the waiting again,
// until whatever it waits for asks anew whether it is ready. So nothing is held while waiting, and what is needed is
// had at the moment of the start, not before.

import SchedulerCore

/// What may hold an operation back besides dependencies. Guarded by the lock of the attachments.
struct Gates {
    var failurePolicy = DependencyFailurePolicy.runAnyway
    var conditions: [OperationCondition] = []
    var testing = Testing.notBegun
    var requirements: [OperationRequirement] = []
    var timeLimits: [TimeLimit] = []

    /// Conditions are tested once, when everything the operation depends on has finished.
    enum Testing { case notBegun, underWay, done }
}

extension OperationQueue {
    /// Whether a claimed operation may start. If not, it has been put back.
    func admit(_ operation: Operation) -> Bool {
        HeldLocks.assertNone()
        guard !untracked({ operation.isCancelled }) else { return true }
        if let failure = operation.failureByPolicy() {
            operation.giveUp(failure)
            return true
        }
        switch operation.beginTesting() {
        case .done: break
        case .underWay:
            putBack(operation)
            return false
        case .begin(let conditions):
            // First put back: the answer may come at once, and asks whether the operation is ready.
            if putBack(operation) { operation.test(conditions, on: executorBeside) }
            return false
        }
        guard operation.acquireResources() else {
            putBack(operation)
            return false
        }
        operation.beginTimeLimits(on: executorBeside, fromStart: true)
        return true
    }

    /// Gives the slot back. False when the operation was ended meanwhile.
    @discardableResult
    private func putBack(_ operation: Operation) -> Bool {
        let (old, hasStartable): (Lifecycle?, Bool) = withState { state in
            guard let old = operation.word.update({ $0.declined() }) else { return (nil, false) }
            state.schedule.heldBack(operation.ticket)
            state.throttle?.limiter.takeBackStart()
            if old.contains(.keyed) {
                state.heldBackKeyed(UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque()))
            }
            return (old, state.schedule.hasStartable)
        }
        if hasStartable { offerSlot() }
        if old?.contains(.askAgain) == true { operation.reconsiderReadiness() }
        return old != nil
    }
}

extension Operation {
    final var gates: Gates? { attachments?.withLock { $0.extras?.gates } }

    /// Changes what holds the operation back; misuse when it has started.
    final func changeGates(_ change: (inout Gates) -> Void) throws(OperationError) {
        guard word.update({ $0.becameGated() }) != nil else { throw .lateGate(operation: label) }
        let new = Attachments.Extras()
        ownAttachments.withLock { state in
            if state.extras == nil { state.extras = new }
            var gates = state.extras?.gates ?? Gates()
            change(&gates)
            state.extras?.gates = gates
        }
    }

    /// The work will not be done, for this reason.
    final func giveUp(_ reason: (any Error)?) {
        if let reason { reportFailure(reason) }
        cancel()
    }

    // MARK: - Dependencies

    /// Why the operation is not to run after what became of its dependencies; nil when it is to run.
    fileprivate final func failureByPolicy() -> (any Error)?? {
        guard let policy = gates?.failurePolicy, policy != .runAnyway else { return nil }
        for dependency in untracked({ dependencies }) {
            switch dependency.operationOutcome {
            case .succeeded, nil: continue
            case .cancelled, .failed:
                guard policy == .fail else { return .some(nil) }
                return DependencyFailure(dependency: dependency.label, outcome: dependency.operationOutcome)
            }
        }
        return nil
    }

    // MARK: - Conditions

    fileprivate enum TestingStep { case begin([OperationCondition]), underWay, done }

    fileprivate final func beginTesting() -> TestingStep {
        attachments?.withLock { state in
            guard let gates = state.extras?.gates, !gates.conditions.isEmpty else { return .done }
            switch gates.testing {
            case .notBegun:
                state.extras?.gates?.testing = .underWay
                return .begin(gates.conditions)
            case .underWay: return .underWay
            case .done: return .done
            }
        } ?? .done
    }

    /// Tests the conditions one after the other, on threads of the pools and without a slot.
    fileprivate final func test(_ conditions: [OperationCondition], on executor: any TaskExecutor) {
        Task(executorPreference: executor) {
            for condition in conditions {
                guard !self.isCancelled else { break }
                do { try await condition.test(self) } catch {
                    self.giveUp(OperationConditionFailure(condition: condition.name, reason: error))
                    break
                }
            }
            self.attachments?.withLock { $0.extras?.gates?.testing = .done }
            self.reconsiderReadiness()
        }
    }

    // MARK: - Resources

    fileprivate final func acquireResources() -> Bool {
        guard let requirements = gates?.requirements, !requirements.isEmpty else { return true }
        return ResourcePool.acquire(requirements, for: self)
    }

    /// Part of step 4: gives back what was had, or asked for.
    final func leaveGates() {
        endTimeLimits()
        if gates?.requirements.isEmpty == false { ResourcePool.withdraw(self) }
    }
}

/// Runs tasks on the threads of a pool, outside of any queue.
final class PoolExecutor: TaskExecutor {
    private let pool: WorkerPool

    private static let all = WorkerPool.pools.map(PoolExecutor.init)

    static func of(_ level: ServiceLevel) -> PoolExecutor { all[level.rawValue] }

    private init(_ pool: WorkerPool) { self.pool = pool }

    func enqueue(_ job: consuming ExecutorJob) { pool.request(PoolJob(UnownedJob(job), self)) }

    private final class PoolJob: WorkSource {
        private let job: UnownedJob
        private let executor: PoolExecutor

        init(_ job: UnownedJob, _ executor: PoolExecutor) {
            self.job = job
            self.executor = executor
        }

        var isEager: Bool { false }
        var threadName: String? { "condition" }

        func work(on worker: Worker) { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }
}
