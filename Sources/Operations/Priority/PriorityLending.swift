import SchedulerCore

/// The inheritance of priorities. A waiter lends its priority to the operation that it waits for. That operation lends
/// the priority to the operations that it waits for itself. See `Lending`.
///
/// A lent priority is written into the state word of the operation, and kept there whether or not its queue inherits
/// priorities. The operation may be in no queue yet, or may only pass the priority on. A lent priority is never taken
/// back.
enum PriorityLending {
    /// Whether the operations of some queue inherit priorities.
    static var isUsed: Bool { Lending.kinds.contains(.priorities) }

    static func begin() { Lending.begin(.priorities) }
}

/// The policy of a queue whose operations inherit the priorities of their waiters.
final class PriorityInheritance: AdditionPolicy {
    func willAdd(_ operation: Operation, to queue: OperationQueue) {
        operation.word.insert(.inherits)
        // The task has not been launched, and has no handlers of the user yet.
        operation.raiseTaskAsLent()
    }
}

extension OperationQueue {
    /// Whether the operations of the queue inherit the priorities of their waiters.
    final var hasMembersInherit: Bool { hooks.isSet && additionPolicy(PriorityInheritance.self) != nil }
}

extension Operation {
    /// Raises the operation, and every operation that it waits for, to at least this priority. A loop with a list: a chain may have a
    /// million operations. A priority never falls again, so each edge is followed five times at most.
    ///
    /// - Parameter inAnyQueue: Whether the operation itself is raised also if its queue does not inherit priorities.
    final func lend(_ lane: PriorityLane, inAnyQueue: Bool = false) {
        guard wasLent(lane, inAnyQueue: inAnyQueue), PriorityLending.isUsed else { return }
        var pending = operationsWaitedFor
        while let next = pending.popLast() {
            if next.wasLent(lane, inAnyQueue: false) { pending += next.operationsWaitedFor }
        }
    }

    /// Lends the operation's priority to every operation that it waits for.
    final func lendOn() {
        let lane = word.lifecycle.lends
        guard lane > .veryLow else { return }
        for operation in operationsWaitedFor { operation.lend(lane) }
    }

    /// Writes a lent priority into the word. False: the operation has that priority already, or has ended.
    private final func wasLent(_ lane: PriorityLane, inAnyQueue: Bool) -> Bool {
        let lending = word.decide { $0.lent(lane, inAnyQueue: inAnyQueue) }
        switch lending {
        case .needless: return false
        case .noted: break
        // As in `reconsiderPriority`.
        case .push: queue?.takeUnretainedValue().push(self, last: nil)
        }
        // Not before the push: the task of a paused operation may have escalation handlers of the user.
        raiseTaskAsLent()
        return true
    }

    /// Raises the task to the lent priority, if the operation inherits priorities and has a task.
    ///
    /// The lender calls this function after the priority is in the word. The creator of the task calls it after the task
    /// is stored. The thread that switches inheritance on calls it after the word has the flag. So the last of these
    /// callers sees the changes of the others.
    final func raiseTaskAsLent() {
        let lifecycle = word.lifecycle
        if lifecycle.contains(.inherits), lifecycle.lentPriority > .veryLow { raiseTask(to: lifecycle.lentPriority) }
    }

    /// The dependencies and the awaited operations. See `operationsWaitedFor`.
    final var dependenciesAndAwaited: [Operation] {
        (withDependencies { $0.holding } ?? []) + operationsAwaitedInside
    }
}
