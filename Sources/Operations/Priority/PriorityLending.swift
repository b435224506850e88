import SchedulerCore
import Synchronization

/// The inheritance of priorities. A waiter lends its priority to the operation that it waits for. That operation lends
/// the priority to the operations that it waits for itself.
///
/// A lent priority is written into the state word of the operation, and kept there whether or not its queue inherits
/// priorities. The operation may be in no queue yet, or may only pass the priority on. A lent priority is never taken
/// back.
///
/// No waiter is missed, regardless of concurrent changes. A thread that begins to wait first records the operation under
/// the waiter's lock, and then reads the waiter's priority. A thread that raises the waiter first writes the priority,
/// and then reads the recorded operations under the same lock. Each operation passes on each priority once, so the work
/// in a cycle ends.
enum PriorityLending {
    private static let isWanted = Atomic(false)

    /// Whether the operations of some queue inherit priorities. Until then no operation lends a priority.
    static var isUsed: Bool { isWanted.load(ordering: .relaxed) }

    static func begin() { isWanted.store(true, ordering: .sequentiallyConsistent) }
}

// Hooks of the engine. Until a queue inherits priorities, each costs a load.
extension Operation {
    /// Whether another thread may follow which operations this one waits for. That thread needs the lock of the attachments.
    @inline(__always)
    static var waitsAreFollowed: Bool { PriorityLending.isUsed }

    /// Called when this operation has begun to wait for another one.
    @inline(__always)
    final func waitsNow(for other: Operation) { if PriorityLending.isUsed { other.lend(word.lifecycle.lends) } }

    /// Called when this operation has been added to a queue.
    @inline(__always)
    final func waitsNow(in queue: OperationQueue) { if PriorityLending.isUsed { lend(asAddedTo: queue) } }

    /// Lends priorities to and from a new operation. A thread that set the policy meanwhile may not have found the
    /// operation in the queue.
    @inline(never)
    private final func lend(asAddedTo queue: OperationQueue) {
        if !word.lifecycle.contains(.inherits), queue.hasMembersInherit { lend(.veryLow, inAnyQueue: true) }
        lendOn()
    }
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
    /// Raises the operation, and every operation that it waits for, to at least this priority.
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

    /// Lends the priority of the operation that this thread runs to this operation, while `body` blocks the thread.
    final func lending(while body: () -> Void) {
        let context = ThreadContext.current
        context.noteWait(for: .operation(self)) {
            if PriorityLending.isUsed, let caller = context.caller { lend(caller.word.lifecycle.lends) }
            body()
        }
    }

    /// Lends the priority of the current task to this operation while `body` waits, also when the priority rises
    /// meanwhile.
    ///
    /// - Parameter inAnyQueue: Whether the operation is raised also if its queue does not inherit priorities.
    nonisolated(nonsending)
        final func lending(inAnyQueue: Bool, while body: nonisolated(nonsending) () async -> Void) async
    {
        await ThreadContext.noteSuspension(for: .operation(self)) {
            guard inAnyQueue || PriorityLending.isUsed else { return await body() }
            let caller = PriorityLending.isUsed ? ThreadContext.ofCurrentTask?.operation : nil
            let own = PriorityLane(Task.currentPriority)
            lend(max(own, caller?.word.lifecycle.lends ?? .veryLow), inAnyQueue: inAnyQueue)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                await withTaskPriorityEscalationHandler {
                    // The task may have been raised before the handler was set.
                    lend(PriorityLane(Task.currentPriority), inAnyQueue: inAnyQueue)
                    await body()
                } onPriorityEscalated: { _, new in
                    lend(PriorityLane(new), inAnyQueue: inAnyQueue)
                }
            } else {
                await body()
            }
        }
    }
}
