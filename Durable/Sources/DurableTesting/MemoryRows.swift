package import DurableCore

/// The tables of a store in memory. Each query is a plain filter over the rows, and serves as the reference of SQL.
///
/// The class is not safe for concurrent use. `MemoryStore` guards it by a lock.
package final class MemoryRows: DurableRows {
    /// The contents, as one value that a test can copy and compare.
    package struct Tables {
        package var operations: [OperationID: OperationRow] = [:]
        package var inputs: [OperationID: [UInt8]] = [:]
        package var outputs: [OperationID: [UInt8]] = [:]
        package var edges: Set<Edge> = []
        package var queues: [QueueRow] = []
        package var kinds: [String] = []
        package var counters: [Counter: Int64] = [:]
        package var keys: [KeyName: KeyRow] = [:]
        package var uniques: [UniqueRow] = []
        package var history: [HistoryEntry] = []
        package var signals: [SignalRow] = []
        package var workers: [WorkerRow] = []
        package var schedules: [ScheduleRow] = []
        package var attempts: [AttemptRow] = []
        package var events: [EventRow] = []
        package var nextEvent: Int64 = 1
        package var observedUntil = DurableInstant(microseconds: 0)
        package var nextOperation: Int64 = 1
        package var nextWorker: Int64 = 1
        /// The unfinished operations of each state, which keep the filters short.
        var byState: [DurableState: Set<OperationID>] = [:]
    }

    package var tables = Tables()
    /// The clock, which only tests move.
    package var now: DurableInstant

    package init(now: DurableInstant) { self.now = now }

    // MARK: - Operations

    package func reserveOperationIDs(_ count: Int) -> OperationID {
        defer { tables.nextOperation += Int64(count) }
        return OperationID(tables.nextOperation)
    }

    package func operations(_ ids: [OperationID]) -> [OperationRow] { ids.compactMap { tables.operations[$0] } }

    package func operations(matching filter: DurableFilter) -> [OperationID] {
        let rows = tables.operations.values.filter { row in
            filter.accepts(row, at: now)
                && matches(filter.queue, queue(row.queue).name)
                && matches(filter.name, name(of: row.kind))
        }
        return Array(rows.map(\.id).sorted().prefix(filter.limit))
    }

    private func matches(_ filter: String?, _ name: String) -> Bool {
        filter.map { ExactName($0) == ExactName(name) } ?? true
    }

    package func operations(_ query: OperationQuery) -> [OperationID] {
        switch query {
        case .waiting(let queue, let epochs): waiting(in: queue, epochs: epochs)
        case .due(let limit): due(limit: limit)
        case .expired(let limit): expired(limit: limit)
        case .purgeable(let limit): purgeable(limit: limit)
        case .running(let worker): running(of: worker)
        case .cancelRequests(let worker): cancelRequests(of: worker)
        case .suspects: suspects()
        }
    }

    package func inputs(of ids: [OperationID]) -> [OperationID: [UInt8]] {
        Dictionary(uniqueKeysWithValues: ids.compactMap { id in tables.inputs[id].map { (id, $0) } })
    }

    package func output(of id: OperationID) -> [UInt8]? { tables.outputs[id] }

    package func removeEdges(from dependencies: [OperationID]) -> [Edge] {
        let removed = edges(from: dependencies)
        tables.edges.subtract(removed)
        return removed
    }

    package func subtractPending(_ counts: [PendingCount]) -> [OperationID] {
        counts.filter { count in
            guard var row = tables.operations[count.operation], row.pending > count.ended else { return true }
            row.pending -= count.ended
            tables.operations[count.operation] = row
            return false
        }.map(\.operation)
    }

    package func edges(from dependencies: [OperationID]) -> [Edge] {
        let dependencies = Set(dependencies)
        return tables.edges.filter { dependencies.contains($0.dependency) }.sorted(by: inOrder)
    }

    package func edges(to dependents: [OperationID]) -> [Edge] {
        let dependents = Set(dependents)
        return tables.edges.filter { dependents.contains($0.dependent) }.sorted(by: inOrder)
    }

    private func inOrder(_ a: Edge, _ b: Edge) -> Bool { (a.dependency, a.dependent) < (b.dependency, b.dependent) }

    package func unfinishedChildren(of parents: [OperationID]) -> [OperationID] {
        let parents = Set(parents)
        return unfinished { row in row.parent.map(parents.contains) == true }.map(\.id).sorted()
    }

    private func waiting(in queue: QueueID, epochs: Range<Int64>) -> [OperationID] {
        unfinished { row in
            row.queue == queue && epochs.contains(row.epoch) && (row.state == .waiting || row.children > 0)
        }.map(\.id).sorted()
    }

    package func ready(queue: QueueID, epoch: Int64, kind: KindID, limit: Int) -> [ReadyEntry] {
        let rows = inState(.ready).filter { $0.queue == queue && $0.epoch == epoch && $0.kind == kind }
        let entries = rows.map { ReadyEntry(priority: $0.priority.rawValue, readyAt: $0.readyAt, id: $0.id) }
        return Array(entries.sorted().prefix(limit))
    }

    package func oldestReady(queue: QueueID, epoch: Int64, kind: KindID, priority: DurablePriority) -> DurableInstant? {
        inState(.ready)
            .filter { $0.queue == queue && $0.epoch == epoch && $0.kind == kind && $0.priority == priority }
            .map(\.readyAt).min()
    }

    private func due(limit: Int) -> [OperationID] {
        let due = sleeping.filter { $0.wakeAt.map { $0 <= now } == true }
        return Array(due.sorted { ($0.wakeAt ?? now, $0.id) < ($1.wakeAt ?? now, $1.id) }.prefix(limit).map(\.id))
    }

    package func nextWake() -> DurableInstant? {
        let deadlines = mortal.compactMap(\.deadline)
        let keys = tables.keys.values.compactMap(\.wakeAt)
        return (sleeping.compactMap(\.wakeAt) + deadlines + keys + tables.schedules.map(\.nextAt)).min()
    }

    private func expired(limit: Int) -> [OperationID] {
        let rows = mortal.filter { $0.deadline.map { $0 <= now } == true }
        return Array(rows.sorted { ($0.deadline ?? now, $0.id) < ($1.deadline ?? now, $1.id) }.prefix(limit).map(\.id))
    }

    package func firstBlocked(of shares: [KeyShare]) -> [OperationID] {
        shares.flatMap { share in
            inOrder(inState(.blocked).filter { $0.keyName == share.name }).prefix(Int(share.count)).map(\.id)
        }
    }

    package func lastReady(of shares: [KeyShare]) -> [OperationID] {
        shares.flatMap { share in
            inOrder(inState(.ready).filter { $0.keyName == share.name }).suffix(Int(share.count)).map(\.id)
        }
    }

    private func inOrder(_ rows: [OperationRow]) -> [OperationRow] { rows.sorted { $0.precedes($1) } }

    private func running(of worker: WorkerID) -> [OperationID] {
        inState(.running).filter { $0.worker == worker }.map(\.id).sorted()
    }

    private func cancelRequests(of worker: WorkerID) -> [OperationID] {
        inState(.running).filter { $0.worker == worker && $0.isCancelRequested }.map(\.id).sorted()
    }

    private func purgeable(limit: Int) -> [OperationID] {
        let rows = tables.operations.values.filter { $0.purgeAt.map { $0 <= now } == true }
        return Array(rows.sorted { ($0.purgeAt ?? now, $0.id) < ($1.purgeAt ?? now, $1.id) }.prefix(limit).map(\.id))
    }

    package func remove(_ ids: [OperationID]) {
        let removed = Set(ids)
        for id in ids {
            tables.operations[id] = nil
            tables.inputs[id] = nil
            tables.outputs[id] = nil
        }
        tables.edges = tables.edges.filter { !removed.contains($0.dependent) }
        tables.uniques.removeAll { removed.contains($0.operation) }
        tables.history.removeAll { removed.contains($0.operation) }
        tables.signals.removeAll { removed.contains($0.operation) }
        tables.attempts.removeAll { removed.contains($0.operation) }
    }

    private var sleeping: [OperationRow] { inState(.scheduled) + inState(.awaitingSignal) }

    /// The operations that do not run, and that a deadline ends.
    private var mortal: [OperationRow] {
        let states: [DurableState] = [.waiting, .scheduled, .blocked, .ready, .awaitingSignal]
        return states.flatMap(inState).filter { $0.deadline != nil }
    }

    private func inState(_ state: DurableState) -> [OperationRow] {
        (tables.byState[state] ?? []).compactMap { tables.operations[$0] }
    }

    private func unfinished(_ isIncluded: (OperationRow) -> Bool) -> [OperationRow] {
        DurableState.allCases.flatMap { $0.isEnded ? [] : inState($0).filter(isIncluded) }
    }
}
