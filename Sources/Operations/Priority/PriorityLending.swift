import SchedulerCore
import Synchronization

/// Who waits for an operation lends it his priority, and that lends it on to what it waits for itself.
///
/// What an operation was lent is written into its state word, and remembered whether or not its queue has use for it: the
/// operation may be in no queue yet, or only be on the way from who waits to who is waited for. It is never taken back.
///
/// Nobody is forgotten, whatever happens at the same time: who begins to wait first says for whom, under a lock of his,
/// and then reads his own priority; who raises him first writes the priority, and then asks him, under the same lock, for
/// whom he waits. Each operation passes on each priority once, so cycles come to an end.
enum PriorityLending {
    private static let isWanted = Atomic(false)

    /// Some queue has had its operations inherit. Until then nobody lends anything.
    static var isUsed: Bool { isWanted.load(ordering: .relaxed) }

    static func begin() { isWanted.store(true, ordering: .sequentiallyConsistent) }
}

extension Operation {
    /// Raises the operation, and everything that it waits for, to at least this priority.
    ///
    /// - Parameter inAnyQueue: The operation itself also if its queue does not have it inherit.
    final func lend(_ lane: PriorityLane, inAnyQueue: Bool = false) {
        guard wasLent(lane, inAnyQueue: inAnyQueue), PriorityLending.isUsed else { return }
        var pending = operationsWaitedFor
        while let next = pending.popLast() {
            if next.wasLent(lane, inAnyQueue: false) { pending += next.operationsWaitedFor }
        }
    }

    /// Lends what it stands at to everything that it waits for.
    final func lendOn() {
        let lane = word.lifecycle.lends
        guard lane > .veryLow else { return }
        for operation in operationsWaitedFor { operation.lend(lane) }
    }

    /// False when it stands that high already, or has ended.
    private final func wasLent(_ lane: PriorityLane, inAnyQueue: Bool) -> Bool {
        let lending = word.decide {
            $0.lent(lane, inAnyQueue: inAnyQueue)
        } next: {
            $0.next
        }
        switch lending {
        case .needless: return false
        case .noted: break
        // As in `reconsiderPriority`.
        case .push: queue?.takeUnretainedValue().push(self, last: nil)
        }
        // Not before the push: a task that stands aside may have handlers of the user's for that.
        raiseTaskAsLent()
        return true
    }

    /// Raises the task to what the operation was lent, if it inherits that and there is a task.
    ///
    /// Called by who lends, after it stands in the word; by who makes the task, after it is there; and by who has the
    /// operation inherit, after the word says so. So whoever of them comes last sees what the others did.
    final func raiseTaskAsLent() {
        let lifecycle = word.lifecycle
        if lifecycle.contains(.inherits), lifecycle.lentPriority > .veryLow { raiseTask(to: lifecycle.lentPriority) }
    }

    /// What this operation waits for as such: see `operationsWaitedFor`.
    final var dependenciesAndAwaited: [Operation] {
        attachments?.withLock { $0.readiness.holding + ($0.extras?.awaited ?? []) } ?? []
    }

    /// Remembers, while `body` runs, that this operation waits for another one.
    private final func beginAwaiting(_ operation: Operation) {
        ownAttachments.withExtras { $0.awaited.append(operation) }
    }

    private final func endAwaiting(_ operation: Operation) {
        attachments?.withLock { state in
            guard let index = state.extras?.awaited.firstIndex(where: { $0 === operation }) else { return }
            _ = state.extras?.awaited.remove(at: index)
        }
    }

    /// Lends the operation the priority of the one that this thread runs, while `body` waits for it.
    final func lending(while body: () -> Void) {
        guard PriorityLending.isUsed, let caller = ThreadContext.current.caller?.operation.takeUnretainedValue()
        else { return body() }
        caller.beginAwaiting(self)
        lend(caller.word.lifecycle.lends)
        body()
        caller.endAwaiting(self)
    }

    /// Lends the operation the priority of the current task while `body` waits for it, also when that is raised meanwhile.
    ///
    /// - Parameter inAnyQueue: Whether or not the operation's queue has it inherit.
    nonisolated(nonsending)
        final func lending(inAnyQueue: Bool, while body: nonisolated(nonsending) () async -> Void) async
    {
        guard inAnyQueue || PriorityLending.isUsed else { return await body() }
        let caller = PriorityLending.isUsed ? ThreadContext.Frame.ofCurrentTask?.operation.takeUnretainedValue() : nil
        caller?.beginAwaiting(self)
        lend(max(PriorityLane(Task.currentPriority), caller?.word.lifecycle.lends ?? .veryLow), inAnyQueue: inAnyQueue)
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            await withTaskPriorityEscalationHandler {
                // It may have been raised before there was a handler.
                lend(PriorityLane(Task.currentPriority), inAnyQueue: inAnyQueue)
                await body()
            } onPriorityEscalated: { _, new in
                lend(PriorityLane(new), inAnyQueue: inAnyQueue)
            }
        } else {
            await body()
        }
        caller?.endAwaiting(self)
    }
}

extension Lifecycle.Lending {
    fileprivate var next: Lifecycle? {
        switch self {
        case .needless: nil
        case .noted(let next), .push(let next): next
        }
    }
}
