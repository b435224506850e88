package import DurableCore

extension MemoryRows {
    package func queue(named name: String) -> QueueRow {
        if let known = existingQueue(named: name) { return known }
        let row = QueueRow(id: QueueID(Int64(tables.queues.count + 1)), name: name)
        tables.queues.append(row)
        return row
    }

    package func existingQueue(named name: String) -> QueueRow? {
        tables.queues.first { ExactName($0.name) == ExactName(name) }
    }

    package func queue(_ id: QueueID) -> QueueRow { tables.queues[Int(id.rawValue) - 1] }

    package func queues() -> [QueueRow] { tables.queues }

    package func kind(named name: String) -> KindID {
        if let index = tables.kinds.firstIndex(where: { ExactName($0) == ExactName(name) }) {
            return KindID(Int64(index + 1))
        }
        tables.kinds.append(name)
        return KindID(Int64(tables.kinds.count))
    }

    package func name(of kind: KindID) -> String { tables.kinds[Int(kind.rawValue) - 1] }

    package func counters(of queue: QueueID) -> [Counter: Int64] { tables.counters.filter { $0.key.queue == queue } }

    package func counters(of queue: QueueID, epoch: Int64) -> [Counter: Int64] {
        counters(of: queue).filter { $0.key.epoch == epoch }
    }

    package func firstEpoch(of queue: QueueID, from epoch: Int64) -> Int64? {
        counters(of: queue).keys.lazy.map(\.epoch).filter { $0 >= epoch && $0 != Counter.ended }.min()
    }

    package func runningCount(of queue: QueueID) -> Int64 {
        counters(of: queue).reduce(0) { $1.key.state == .running ? $0 + $1.value : $0 }
    }

    package func keys(_ names: [KeyName]) -> [KeyRow] { names.compactMap { tables.keys[$0] } }

    package func keys(of queue: QueueID) -> [KeyRow] {
        tables.keys.values.filter { $0.name.queue == queue }.sorted { $0.name < $1.name }
    }

    package func dueKeys(limit: Int) -> [KeyName] {
        let due = tables.keys.values.filter { $0.wakeAt.map { $0 <= now } == true }
        let sorted = due.sorted { ($0.wakeAt ?? now, $0.name) < ($1.wakeAt ?? now, $1.name) }
        return Array(sorted.prefix(limit).map(\.name))
    }

    package func attempts(of operation: OperationID) -> [AttemptRow] {
        tables.attempts.filter { $0.operation == operation }.sorted { $0.fence < $1.fence }
    }

    package func observedUntil() -> DurableInstant { tables.observedUntil }

    package func reserveEventNumbers(_ count: Int) -> Int64 {
        defer { tables.nextEvent += Int64(count) }
        return tables.nextEvent
    }

    package func lastEventNumber() -> Int64 { tables.nextEvent - 1 }

    package func events(after number: Int64, limit: Int) -> [EventRow] {
        Array(tables.events.filter { $0.number > number }.prefix(limit))
    }

    package func removeEvents(before instant: DurableInstant, limit: Int) {
        let kept = tables.events.prefix(limit).filter { $0.at >= instant }
        tables.events = kept + tables.events.dropFirst(limit)
    }

    package func unique(kind: KindID, key: String) -> UniqueRow? {
        tables.uniques.first { $0.name == UniqueName(kind: kind, key: ExactName(key)) }
    }

    package func uniquePeriods(of ids: [OperationID]) -> [OperationID: DurableInstant] {
        let ids = Set(ids)
        let periods = tables.uniques.filter { ids.contains($0.operation) }
            .compactMap { row in row.heldUntil.map { (row.operation, $0) } }
        return Dictionary(periods, uniquingKeysWith: max)
    }

    package func history(of ids: [OperationID]) -> [HistoryEntry] {
        let ids = Set(ids)
        return tables.history.filter { ids.contains($0.operation) }.sorted {
            ($0.operation, $0.position) < ($1.operation, $1.position)
        }
    }

    package func signal(_ name: String, for operation: OperationID) -> SignalRow? {
        let signals = tables.signals.filter { $0.operation == operation && ExactName($0.name) == ExactName(name) }
        return signals.min { $0.number < $1.number }
    }

    package func nextSignalNumber(for operation: OperationID) -> Int64 {
        (tables.signals.filter { $0.operation == operation }.map(\.number).max() ?? 0) + 1
    }

    package func worker(_ id: WorkerID) -> WorkerRow? { tables.workers.first { $0.id == id } }

    package func workers() -> [WorkerRow] { tables.workers.sorted { $0.id < $1.id } }

    package func expiredWorkers() -> [WorkerID] { workers().filter { $0.leaseEnd < now }.map(\.id) }

    func suspects() -> [OperationID] {
        tables.operations.values.filter(\.isSuspect).map(\.id).sorted()
    }

    package func reserveWorkerID() -> WorkerID {
        defer { tables.nextWorker += 1 }
        return WorkerID(tables.nextWorker)
    }

    package func schedule(named name: String) -> ScheduleRow? {
        tables.schedules.first { ExactName($0.name) == ExactName(name) }
    }

    package func schedules() -> [ScheduleRow] { tables.schedules.sorted { ExactName($0.name) < ExactName($1.name) } }

    package func dueSchedules() -> [ScheduleRow] { schedules().filter { $0.nextAt <= now } }

    package func save(_ changes: Changes) {
        for row in changes.inserted + changes.updated {
            if let old = tables.operations[row.id] { tables.byState[old.state]?.remove(row.id) }
            tables.operations[row.id] = row
            if !row.state.isEnded { tables.byState[row.state, default: []].insert(row.id) }
        }
        tables.inputs.merge(changes.inputs) { $1 }
        tables.outputs.merge(changes.outputs) { $1 }
        tables.edges.formUnion(changes.edges)
        for (counter, change) in changes.counters {
            let sum = (tables.counters[counter] ?? 0) + change
            tables.counters[counter] = sum == 0 ? nil : sum
        }
        for row in changes.queues { tables.queues[Int(row.id.rawValue) - 1] = row }
        for row in changes.keys { tables.keys[row.name] = row.isEmpty ? nil : row }
        for row in changes.uniques {
            tables.uniques.removeAll { $0.name == row.name }
            tables.uniques.append(row)
        }
        for entry in changes.history {
            let stored = tables.history.firstIndex { $0.operation == entry.operation && $0.position == entry.position }
            if let stored { tables.history[stored].result = entry.result } else { tables.history.append(entry) }
        }
        tables.signals.removeAll { changes.consumedSignals.contains($0) }
        tables.signals += changes.signals
        for row in changes.workers {
            tables.workers.removeAll { $0.id == row.id }
            tables.workers.append(row)
        }
        tables.workers.removeAll { changes.removedWorkers.contains($0.id) }
        tables.schedules.removeAll { row in
            changes.removedSchedules.containsExactly(row.name)
                || changes.schedules.map(\.name).containsExactly(row.name)
        }
        tables.schedules += changes.schedules
        tables.attempts += changes.attempts
        for (id, count) in changes.keptAttempts {
            let kept = Set(attempts(of: id).suffix(count))
            tables.attempts.removeAll { $0.operation == id && !kept.contains($0) }
        }
        tables.events += changes.events
        if let instant = changes.observedUntil { tables.observedUntil = instant }
    }
}
