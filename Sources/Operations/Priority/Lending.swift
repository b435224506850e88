import SchedulerCore
import Synchronization

/// The kinds of rank that waiters lend to the operations that they wait for: priorities (`PriorityLending`) and service levels
/// (`LevelLending`). Until the process uses a kind, no operation lends it.
///
/// No waiter is missed, regardless of concurrent changes. A thread that begins to wait first records the operation under
/// the waiter's lock, and then reads the waiter's rank. A thread that raises the waiter first writes the rank, and then reads
/// the recorded operations under the same lock. Each operation passes on each rank once, so the work in a cycle ends.
struct Lending: OptionSet, Sendable {
    let rawValue: UInt8

    static let priorities = Lending(rawValue: 1), levels = Lending(rawValue: 2)

    private static let used = Atomic<UInt8>(0)

    /// The kinds that the process uses.
    @inline(__always)
    static var kinds: Lending { Lending(rawValue: used.load(ordering: .relaxed)) }

    static func begin(_ kind: Lending) { used.bitwiseOr(kind.rawValue, ordering: .sequentiallyConsistent) }
}

// Hooks of the engine. Until the process uses a kind of lending, each costs a load.
extension Operation {
    /// Whether another thread may follow which operations this one waits for. That thread needs the lock of the attachments.
    @inline(__always)
    static var waitsAreFollowed: Bool { !Lending.kinds.isEmpty }

    /// Called when this operation has begun to wait for another one.
    @inline(__always)
    final func waitsNow(for other: Operation) { if Self.waitsAreFollowed { lendTo(other) } }

    /// Called when this operation has been added to a queue.
    @inline(__always)
    final func waitsNow(in queue: OperationQueue) { if Self.waitsAreFollowed { lend(asAddedTo: queue) } }

    @inline(never)
    private final func lendTo(_ other: Operation) {
        if PriorityLending.isUsed { other.lend(word.lifecycle.lends) }
        if LevelLending.isUsed { other.lend(lendsLevel) }
    }

    /// Lends to and from a new operation.
    @inline(never)
    private final func lend(asAddedTo queue: OperationQueue) {
        if PriorityLending.isUsed {
            // A thread that set the policy meanwhile may not have found the operation in the queue.
            if !word.lifecycle.contains(.inherits), queue.hasMembersInherit { lend(.veryLow, inAnyQueue: true) }
            lendOn()
        }
        if LevelLending.isUsed {
            // The level of the queue, or of the group around it, may have changed since the addition began.
            if let owner = queue.owner { lend(owner.lendsLevel) }
            place(in: queue)
            lendLevelOn()
        }
    }

    /// Lends the ranks of the operation that this thread runs to this operation, while `body` blocks the thread.
    final func lending(isLimited: Bool, while body: () -> Void) {
        let context = ThreadContext.current
        context.noteWait(for: .operation(self), isLimited: isLimited) {
            if PriorityLending.isUsed, let caller = context.caller { lend(caller.word.lifecycle.lends) }
            if LevelLending.isUsed { lend(context.level) }
            body()
        }
    }

    /// Lends the ranks of the current task to this operation while `body` waits, also when the priority of the task rises
    /// meanwhile.
    ///
    /// - Parameter inAnyQueue: Whether the priority of the operation is raised also if its queue does not inherit priorities.
    nonisolated(nonsending)
        final func lending(inAnyQueue: Bool, while body: nonisolated(nonsending) () async -> Void) async
    {
        await ThreadContext.noteSuspension(for: .operation(self)) {
            let kinds = Lending.kinds
            guard inAnyQueue || !kinds.isEmpty else { return await body() }
            let caller = kinds.isEmpty ? nil : ThreadContext.ofCurrentTask?.operation
            lend(Task.currentPriority, of: caller, inAnyQueue: inAnyQueue)
            if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
                await withTaskPriorityEscalationHandler {
                    // The task may have been raised before the handler was set.
                    lend(Task.currentPriority, of: caller, inAnyQueue: inAnyQueue)
                    await body()
                } onPriorityEscalated: { _, new in
                    lend(new, of: caller, inAnyQueue: inAnyQueue)
                }
            } else {
                await body()
            }
        }
    }

    /// Lends the ranks of a waiting task to this operation.
    ///
    /// - Parameter caller: The operation that the task is part of.
    private final func lend(_ priority: TaskPriority, of caller: Operation?, inAnyQueue: Bool) {
        if inAnyQueue || PriorityLending.isUsed {
            let lent = PriorityLending.isUsed ? caller?.word.lifecycle.lends : nil
            lend(max(PriorityLane(priority), lent ?? .veryLow), inAnyQueue: inAnyQueue)
        }
        if LevelLending.isUsed { lend(caller?.lendsLevel ?? ServiceLevel(priority)) }
    }
}
