/// All decisions of a store, as events in one open transaction.
///
/// Each event loads the rows that it needs in sets, decides, and saves the changes in sets. An event that throws a
/// `DurableError` has changed no operation. Therefore one transaction may apply the events of many callers.
public struct DurableMachine {
    package var rows: any DurableRows
    package let limits: DurableLimits
    /// The effects of the events so far. The store publishes them after the commit.
    package private(set) var effects = Effects()
    var work = WorkingSet()

    package init(rows: any DurableRows, limits: DurableLimits) { (self.rows, self.limits) = (rows, limits) }

    package var now: DurableInstant { rows.now }

    /// Applies one event, and saves its changes. Discards the changes if `body` throws.
    mutating func event<Reply>(_ body: (inout Self) throws -> Reply) throws -> Reply {
        do {
            let reply = try body(&self)
            try propagateEnds()
            try flush()
            return reply
        } catch {
            work = WorkingSet()
            throw error
        }
    }

    /// Saves the changes. Opens epochs and admits blocked operations until no change is left.
    private mutating func flush() throws {
        repeat {
            let unbalanced = work.unbalancedKeys
            let touched = work.touchedQueues
            var changes = work.changes
            changes.updated = work.updated.sorted().compactMap { work.operations[$0] }
            changes.inserted = work.inserted.sorted().compactMap { work.operations[$0] }
            changes.counters = changes.counters.filter { $0.value != 0 }
            changes.queues = work.changedQueues.sorted().compactMap { work.queues[$0] }
            changes.keys = work.changedKeys.compactMap { work.keys[$0] }
            try number(&changes.events)
            try rows.save(changes)
            effects.merge(work.effects)
            work = WorkingSet()
            for (queue, epoch) in touched.sorted(by: { $0.key < $1.key }) {
                try openNextEpoch(of: queue, changed: epoch)
            }
            if !unbalanced.isEmpty { try balance(unbalanced.sorted()) }
        } while work.isChanged
    }

    /// Returns and removes the effects.
    package mutating func takeEffects() -> Effects {
        defer { effects = Effects() }
        return effects
    }
}

/// The effects of committed events, for waiting tasks of this process.
public struct Effects: Sendable, Equatable {
    /// The operations that ended.
    package var ended: Set<OperationID> = []
    /// Whether operations became ready, or may start because a limit changed.
    package var hasReadyOperations = false
    /// Whether running operations were requested to cancel.
    package var hasCancelRequests = false
    /// Whether an operation has a new wake instant.
    package var hasNewWakes = false

    package init() {}

    package mutating func merge(_ other: Effects) {
        ended.formUnion(other.ended)
        hasReadyOperations = hasReadyOperations || other.hasReadyOperations
        hasCancelRequests = hasCancelRequests || other.hasCancelRequests
        hasNewWakes = hasNewWakes || other.hasNewWakes
    }
}

/// The rows that one event has loaded and changed.
struct WorkingSet {
    var operations: [OperationID: OperationRow] = [:]
    var inserted: Set<OperationID> = []
    var updated: Set<OperationID> = []
    var queues: [QueueID: QueueRow] = [:]
    var changedQueues: Set<QueueID> = []
    var keys: [KeyName: KeyRow] = [:]
    var changedKeys: Set<KeyName> = []
    var unbalancedKeys: Set<KeyName> = []
    /// The queues with barriers in which the number of unfinished operations changed, and the first epoch with a change.
    var touchedQueues: [QueueID: Int64] = [:]
    /// The operations that ended, and whose dependents have not been notified.
    var ended: [OperationID] = []
    /// The new edges of operations that a running operation adds, by their dependencies.
    var edgesOfMembers: [OperationID: [Edge]] = [:]
    var changes = Changes()
    var effects = Effects()
    var isChanged = false

    /// Makes room for new operations. Tables that grow step by step would copy each row several times.
    mutating func reserve(_ count: Int) {
        operations.reserveCapacity(operations.count + count)
        inserted.reserveCapacity(count)
        changes.inputs.reserveCapacity(count)
    }
}
