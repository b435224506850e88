// Between ready and start: the thread that has claimed an operation admits it, without a lock. One swap of the word finds
// what has changed since the claim: a dependency, a promised cancellation, an announcement. Of a gated operation the thread
// first looks at its dependencies, conditions and resources. An operation that has to wait gives its slot back and is among
// the waiting again, until whatever it waits for asks anew whether it is ready. So nothing is held while waiting, and what is
// needed is had at the moment of the start, not before.

import SchedulerCore

/// What may hold an operation back besides dependencies. Guarded by the lock of the attachments.
struct Gates {
    var hold = Hold()
    var failurePolicy = DependencyFailurePolicy.runAnyway
    var conditions: [OperationCondition] = []
    /// So many conditions are satisfied.
    var satisfied = 0
    /// The task that tests the others.
    var test: Task<Void, Never>?
    var isTesting = false
    var requirements: [OperationRequirement] = []
    var timeLimits: [TimeLimit] = []

    /// The operation ends: only what can still be asked for remains. Answers what there was.
    mutating func spend() -> Gates {
        let spent = self
        self = Gates()
        hold = spent.hold
        failurePolicy = spent.failurePolicy
        return spent
    }
}

extension OperationQueue {
    /// Whether a claimed operation may start. If not, it has been put back, or has ended.
    func admit(_ operation: Operation) -> Bool {
        HeldLocks.assertNone()
        let isGated = operation.word.lifecycle.contains(.gated)
        guard !isGated || passGates(operation) else { return false }
        while true {
            let admission = operation.word.decide {
                $0.admitted()
            } next: {
                switch $0 {
                case .start(let next), .askAgain(let next), .finish(let next): next
                case .putBack: nil
                }
            }
            switch admission {
            case .start:
                if isGated { operation.beginTimeLimits(on: executorBeside, fromStart: true) }
                return true
            case .askAgain(let word) where !word.contains(.gated) && untracked({ operation.isReady }):
                // Not put back: operations that were added later would start before it.
                continue
            case .askAgain:
                if isGated { operation.withdrawFromResources() }
                putBack(operation, andAsk: true)
                return false
            case .putBack:
                if isGated { operation.withdrawFromResources() }
                putBack(operation)
                return false
            case .finish:
                operation.finishIfFinished()
                // The end may have been taken back.
                return operation.word.lifecycle.phase == .starting
            }
        }
    }

    /// Whether nothing but dependencies holds a gated operation back. If not, it has been put back.
    private func passGates(_ operation: Operation) -> Bool {
        guard !untracked({ operation.isCancelled }) else { return true }
        if operation.gates?.hold.isOn == true {
            putBack(operation)
            return false
        }
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
            putBack(operation)
            operation.test(conditions, on: executorBeside)
            return false
        }
        guard operation.acquireResources() else {
            putBack(operation)
            return false
        }
        return true
    }

    /// Gives the slot of a claimed operation back, which has not started.
    ///
    /// - Parameter andAsk: Nothing is known that holds it back, so it is asked at once whether it is ready.
    func putBack(_ operation: Operation, andAsk: Bool = false) {
        let (old, hasStartable): (Lifecycle, Bool) = withState { state in
            let old = operation.word.update { $0.declined() }.unsafelyUnwrapped
            state.returnToWaiting(operation, old)
            state.takeBackPermit(operation.scheduleID)
            return (old, state.schedule.hasStartable)
        }
        if hasStartable { offerSlot() }
        if old.contains(.finishAnnounced) { operation.finishIfFinished() }
        // An operation that is to be cancelled has to be ready: the next worker that meets it calls its `cancel()`.
        if andAsk || old.isCancelled || old.containsAny([.askAgain, .cancelPromised]) {
            operation.reconsiderReadiness()
        }
    }
}

extension OperationQueue.State {
    /// Takes the slot of an operation that has been claimed.
    mutating func returnToWaiting(_ operation: Operation, _ lifecycle: Lifecycle) {
        schedule.heldBack(operation.ticket)
        schedule.updated(operation.ticket, lane: lifecycle.effectivePriority, isReady: false)
        if lifecycle.contains(.keyed) { heldBackKeyed(operation.scheduleID) }
        if lifecycle.contains(.bounded) { noteBounded(operation, operation.word.lifecycle) }
    }
}

extension Operation {
    final var gates: Gates? { attachments?.withLock { $0.extras?.gates } }

    /// Changes what holds the operation back, unless it has started: misuse.
    ///
    /// - Parameter change: Answers what is wrong with it, and has changed nothing then. Called under a lock.
    final func changeGates(_ change: (inout Gates) -> OperationError?) throws(OperationError) {
        let label = label
        let misuse: OperationError? = ownAttachments.withExtras { extras in
            var gates = extras.gates ?? Gates()
            if let misuse = change(&gates) { return misuse }
            // Under the lock: whoever sees the flag, and then looks, finds what was added.
            guard word.update({ $0.becameGated() }) != nil else { return .lateGate(operation: label) }
            extras.gates = gates
            return nil
        }
        if let misuse { throw misuse }
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
            guard let outcome = dependency.operationOutcome else { continue }
            if case .succeeded = outcome { continue }
            return policy == .fail ? DependencyFailure(dependency: dependency.label, outcome: outcome) : .some(nil)
        }
        return nil
    }

    // MARK: - Conditions

    fileprivate enum TestingStep { case begin(ArraySlice<OperationCondition>), underWay, done }

    fileprivate final func beginTesting() -> TestingStep {
        attachments?.withLock { state in
            guard let gates = state.extras?.gates else { return .done }
            if gates.isTesting { return .underWay }
            guard gates.satisfied < gates.conditions.count else { return .done }
            state.extras?.gates?.isTesting = true
            return .begin(gates.conditions[gates.satisfied...])
        } ?? .done
    }

    /// Tests conditions one after the other, on threads of the pools and without a slot. The task is cancelled when the
    /// operation ends meanwhile.
    fileprivate final func test(_ conditions: ArraySlice<OperationCondition>, on executor: any TaskExecutor) {
        let test = Task(executorPreference: executor) {
            var satisfied = 0
            for condition in conditions {
                guard !self.isCancelled else { break }
                do { try await condition.test(self) } catch {
                    self.giveUp(OperationConditionFailure(condition: condition.name, reason: error))
                    break
                }
                satisfied += 1
            }
            let old = self.attachments?.withLock { state in
                state.extras?.gates?.isTesting = false
                state.extras?.gates?.satisfied += satisfied
                return state.extras?.gates?.test.take()
            }
            withExtendedLifetime(old) {}
            self.reconsiderReadiness()
        }
        let isOver = attachments?.withLock { state in
            // Over already, or ended by somebody who has not found the task.
            guard state.extras?.gates?.isTesting == true, !word.lifecycle.isFinished else { return true }
            state.extras?.gates?.test = test
            return false
        }
        if isOver != false { test.cancel() }
    }

    // MARK: - Resources

    fileprivate final func acquireResources() -> Bool {
        guard let requirements = gates?.requirements, !requirements.isEmpty else { return true }
        return ResourcePool.acquire(requirements, for: self)
    }

    final func withdrawFromResources() {
        if gates?.requirements.isEmpty == false { ResourcePool.withdraw(self) }
    }

    /// Part of step 4: gives back what was had, or asked for, and releases conditions with what they have captured (W5).
    final func leaveGates() {
        endTimeLimits()
        withdrawFromResources()
        let spent = attachments?.withLock { $0.extras?.gates?.spend() }
        spent?.test?.cancel()
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

        var urgency: Urgency { .prompt }
        var threadName: String? { "condition" }

        func work(on worker: Worker) { job.runSynchronously(on: executor.asUnownedTaskExecutor()) }
    }
}
