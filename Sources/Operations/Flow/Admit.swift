// Between ready and start: the thread that has claimed an operation admits the operation, without a lock. One swap of the
// word detects changes since the claim: a dependency, a promised cancellation, an announcement. For a gated operation, the
// thread first checks dependencies, conditions and resources. An operation that has to wait returns its slot and becomes a
// waiting operation again. A change in the cause of the wait evaluates the readiness of the operation again. So a waiting
// operation holds no slot and no resources. It acquires both just before it starts.

import SchedulerCore

/// The causes that can hold an operation back besides dependencies. Guarded by the lock of the attachments.
struct Gates {
    var hold = Hold()
    var failurePolicy = DependencyFailurePolicy.runAnyway
    var conditions: [OperationCondition] = []
    /// The number of conditions that are satisfied.
    var satisfied = 0
    /// The task that tests the other conditions.
    var test: Task<Void, Never>?
    var isTesting = false
    var requirements: [OperationRequirement] = []
    var timeLimits: [TimeLimit] = []

    /// Clears the gates when the operation ends, except the values that callers can still read. Returns the previous gates.
    mutating func spend() -> Gates {
        let spent = self
        self = Gates()
        hold = spent.hold
        failurePolicy = spent.failurePolicy
        return spent
    }
}

extension OperationQueue {
    /// Whether a claimed operation may start. If not, the operation has been put back, or has ended.
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
                // An override of `isFinished` may have returned to false since the announcement.
                return operation.word.lifecycle.phase == .starting
            }
        }
    }

    /// Whether a gated operation has passed its gates. If not, the operation has been put back.
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
            // Put back before the test: the test may end at once, and then evaluates the readiness of the operation.
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

    /// Returns the slot of a claimed operation that has not started.
    ///
    /// - Parameter andAsk: Whether to evaluate the readiness of the operation at once, because no known cause holds it back.
    func putBack(_ operation: Operation, andAsk: Bool = false) {
        let old = withStateCallingWorkers { state in
            let old = operation.word.update { $0.declined() }.unsafelyUnwrapped
            state.returnToWaiting(operation, old, hasBegun: false)
            return old
        }
        if old.contains(.finishAnnounced) { operation.finishIfFinished() }
        // An operation with a promised cancellation has to be ready: the next worker that claims it calls its `cancel()`.
        if andAsk || old.isCancelled || old.containsAny([.askAgain, .cancelPromised]) {
            operation.reconsiderReadiness()
        }
    }
}

extension OperationQueue.State {
    /// Takes the slot back from an operation that has not ended.
    mutating func returnToWaiting(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool) {
        _ = machine.handle(.putBack(operation.asMember, lane: lifecycle.effectivePriority))
        if policies.concern(lifecycle) { notePoliciesPutBack(operation, lifecycle, hasBegun: hasBegun) }
    }
}

extension Operation {
    final var gates: Gates? { attachments?.withLock { $0.extras?.gates } }

    /// Changes the gates of the operation.
    ///
    /// - Parameter change: Called under a lock. Returns an error if the change is invalid, and then changes nothing.
    /// - Throws: The error that `change` returns, or `OperationError.lateGate` if the operation has started.
    final func changeGates(_ change: (inout Gates) -> OperationError?) throws(OperationError) {
        let label = label
        let misuse: OperationError? = ownAttachments.withExtras { extras in
            var gates = extras.gates ?? Gates()
            if let misuse = change(&gates) { return misuse }
            // Under the lock: a thread that sees the flag and then reads the gates finds the new gate.
            guard word.update({ $0.becameGated() }) != nil else { return .lateGate(operation: label) }
            extras.gates = gates
            return nil
        }
        if let misuse { throw misuse }
    }

    /// Reports `reason` as a failure and cancels the operation.
    final func giveUp(_ reason: (any Error)?) {
        if let reason { reportFailure(reason) }
        cancel()
    }

    // MARK: - Dependencies

    /// Returns the reason not to run the operation, by the outcomes of its dependencies; nil if the operation may run.
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

    /// Tests conditions one after the other, on threads of the pools and without a slot. If the operation ends during the
    /// test, the task of the test is cancelled.
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
            // The test is over, or another thread has ended the operation before the task was stored.
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

    /// Returns resources, withdraws requests for them, and releases conditions with their captures (W5). Part of step 4.
    final func leaveGates() {
        endTimeLimits()
        withdrawFromResources()
        let spent = attachments?.withLock { $0.extras?.gates?.spend() }
        spent?.test?.cancel()
    }
}

/// An executor that runs tasks on the threads of a pool, outside of any queue.
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
