import SchedulerCore

/// The conditions of an operation. They are tested one after the other, on threads of the pools and without a slot.
final class ConditionGate: OperationGate {
    static var rank: OperationGateRank { .conditions }

    @exclusivity(unchecked) var conditions: [OperationCondition] = []
    /// The number of conditions that are satisfied.
    @exclusivity(unchecked) private var satisfied = 0
    @exclusivity(unchecked) private var test = Test.notUnderWay

    /// The values that the next test inherits, from the addition of the operation to a queue on.
    @exclusivity(unchecked) private var context: TaskLocalValues?

    private enum Test {
        case notUnderWay
        /// The task is nil until it is stored.
        case underWay(Task<Void, Never>?, ConditionTest)
        /// A condition was not satisfied. An operation that its `cancel()` does not cancel runs all the same.
        case failed
    }

    deinit { context?.release() }

    func waits(_ operation: Operation, in queue: OperationQueue) {
        let isNew = operation.word.lifecycle.phase == .entering
        if isNew, queue.inheritsTaskContext { Self.keep(.ofCaller(), for: operation) }
    }

    /// Called when a condition was added. The operation may be in a queue already.
    static func added(to operation: Operation) {
        if operation.word.lifecycle.phase == .enqueued { keep(.ofCaller(), for: operation) }
    }

    /// Stores the values for the next test, unless the operation has ended.
    private static func keep(_ context: TaskLocalValues, for operation: Operation) {
        let isKept = operation.withGate(ConditionGate.self) { gate in
            guard !operation.word.lifecycle.isFinished, gate.context == nil else { return false }
            gate.context = context
            return true
        }
        if isKept != true { context.release() }
    }

    func mayStart(_ operation: Operation) -> GateAnswer {
        operation.withGate(ConditionGate.self) { gate -> GateAnswer in
            switch gate.test {
            case .underWay: return .waits()
            case .failed: return .passes
            case .notUnderWay: break
            }
            guard gate.satisfied < gate.conditions.count else { return .passes }
            let test = ConditionTest()
            gate.test = .underWay(nil, test)
            let untested = gate.conditions[gate.satisfied...]
            // After the operation has returned its slot: the test may end at once, and then evaluates the readiness.
            return .waits { executor in
                // Taken here: an operation that ends before this call releases the values.
                guard let context = operation.withGate(ConditionGate.self, { $0.context.take() }) ?? nil else {
                    return Self.begin(untested, test, of: operation, on: executor)
                }
                context.use {
                    // For conditions that are added during the test.
                    Self.keep(.ofCaller(), for: operation)
                    Self.begin(untested, test, of: operation, on: executor)
                }
            }
        } ?? .passes
    }

    private static func begin(
        _ conditions: ArraySlice<OperationCondition>, _ test: ConditionTest, of operation: Operation,
        on executor: any TaskExecutor
    ) {
        let task = Task(executorPreference: executor) {
            let (satisfied, hasFailed) = await test.run { await Self.test(conditions, of: operation) }
            ConditionGate.testEnded(of: operation, satisfied: satisfied, hasFailed: hasFailed)
        }
        let isKept = operation.withGate(ConditionGate.self) { gate in
            // The test is over, another one is under way, or another thread has ended the operation before the task was stored.
            guard case .underWay(_, let current) = gate.test, current === test, !operation.word.lifecycle.isFinished
            else { return false }
            gate.test = .underWay(task, test)
            return true
        }
        if isKept != true { task.cancel() }
    }

    /// Tests one condition after the other. Returns the number of those that hold, and whether the last one does not.
    private static func test(
        _ conditions: ArraySlice<OperationCondition>, of operation: Operation
    ) async -> (satisfied: Int, hasFailed: Bool) {
        var satisfied = 0
        for condition in conditions {
            guard !operation.isCancelled else { break }
            do { try await condition.test(operation) } catch {
                operation.giveUp(OperationConditionFailure(condition: condition.name, reason: error))
                return (satisfied, true)
            }
            satisfied += 1
        }
        return (satisfied, false)
    }

    private static func testEnded(of operation: Operation, satisfied: Int, hasFailed: Bool) {
        let task = operation.withGate(ConditionGate.self) { gate in
            gate.satisfied += satisfied
            let task = gate.endTest()
            if hasFailed { gate.test = .failed }
            return task
        }
        withExtendedLifetime(task) {}
        operation.reconsiderReadiness()
    }

    /// Returns the task, so that the caller releases it without the lock.
    private func endTest() -> Task<Void, Never>? {
        guard case .underWay(let task, _) = test else { return nil }
        test = .notUnderWay
        return task
    }

    func leaves(_ operation: Operation) {
        let (task, conditions, context) =
            operation.withGate(ConditionGate.self) { gate in
                defer { gate.conditions = [] }
                return (gate.endTest(), gate.conditions, gate.context.take())
            } ?? (nil, [], nil)
        task?.cancel()
        context?.release()
        withExtendedLifetime(conditions) {}
    }

    func obstacles(of operation: Operation) -> [GateObstacle] {
        let found: (names: [String], test: ConditionTest)? =
            operation.withGate(ConditionGate.self) { gate in
                guard case .underWay(_, let test) = gate.test else { return nil }
                return (gate.conditions.map(\.name), test)
            } ?? nil
        guard let (names, test) = found else { return [] }
        let reason = WaitingReason.conditions(names)
        switch test.subject {
        case .operation(let other):
            return [.init(reason: reason, remover: .operation(other)), .init(reason: .awaits(other.label))]
        case .queue(let queue):
            let subject = WaitingReason.awaitsQueue(queue.readName() ?? "")
            return [.init(reason: reason, remover: .allOperations(queue)), .init(reason: subject)]
        case nil: return [.init(reason: reason)]
        }
    }
}
