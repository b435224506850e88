import DurableCore

extension SQLiteRows {
    func operations(_ ids: [OperationID]) throws -> [OperationRow] {
        var rows: [OperationRow] = []
        rows.reserveCapacity(ids.count)
        for id in ids { try run(.operation, { $0.bind(1, id.rawValue) }, row: { rows.append(OperationRow($0)) }) }
        return rows
    }

    func operations(matching filter: DurableFilter) throws -> [OperationID] {
        var (queue, kind): (Int64?, Int64?)
        if let name = filter.queue {
            guard let found = try existingQueue(named: name) else { return [] }
            queue = found.id.rawValue
        }
        if let name = filter.name {
            try run(.kindByName, { $0.bind(1, name) }, row: { kind = $0.int(0) })
            if kind == nil { return [] }
        }
        return try ids(.matching) { query in
            query.bind(1, filter.after?.rawValue ?? 0)
            // A bit for each state.
            query.bind(2, filter.states?.reduce(0) { $0 | 1 << $1.rawValue })
            query.bind(3, queue)
            query.bind(4, kind)
            query.bind(5, Int64(filter.limit))
            let ages = filter.ages(at: now)
            query.bind(6, ages.oldest?.microseconds)
            query.bind(7, ages.youngest?.microseconds)
        }
    }

    func operations(_ query: OperationQuery) throws -> [OperationID] {
        guard let sql = SQL.queries[query.kind] else { return [] }
        let found = try ids(sql) { statement in
            var parameters = SQLiteWriter(query: statement)
            query.write(to: &parameters, now: now)
        }
        return query.kind.isUnordered ? found.sorted() : found
    }

    func inputs(of ids: [OperationID]) throws -> [OperationID: [UInt8]] {
        var inputs: [OperationID: [UInt8]] = [:]
        inputs.reserveCapacity(ids.count)
        for id in ids { try run(.input, { $0.bind(1, id.rawValue) }, row: { inputs[id] = $0.bytes(0) }) }
        return inputs
    }

    func output(of id: OperationID) throws -> [UInt8]? {
        var output: [UInt8]?
        try run(.output, { $0.bind(1, id.rawValue) }, row: { output = $0.bytes(0) })
        return output
    }

    func removeEdges(from dependencies: [OperationID]) throws -> [Edge] {
        // Most operations have no dependents. A look costs less than a statement that may write.
        let removed = try edges(from: dependencies)
        var last: OperationID?
        for edge in removed where edge.dependency != last {
            try run(.removeEdges) { $0.bind(1, edge.dependency.rawValue) }
            last = edge.dependency
        }
        return removed
    }

    func subtractPending(_ counts: [PendingCount]) throws -> [OperationID] {
        try counts.filter { count in
            try run(.subtractPending) { query in
                query.bind(1, count.operation.rawValue)
                query.bind(2, count.ended)
            }
            return changeCount == 0
        }.map(\.operation)
    }

    func edges(to dependents: [OperationID]) throws -> [Edge] { try edges(.edgesTo, dependents) }

    func edges(from dependencies: [OperationID]) throws -> [Edge] { try edges(.edgesFrom, dependencies) }

    private func edges(_ sql: SQL, _ ids: [OperationID]) throws -> [Edge] {
        var edges: [Edge] = []
        for id in ids {
            try run(sql, { $0.bind(1, id.rawValue) }, row: { edges.append(Edge($0)) })
        }
        return edges
    }

    func unfinishedChildren(of parents: [OperationID]) throws -> [OperationID] {
        try parents.flatMap { parent in try ids(.children) { $0.bind(1, parent.rawValue) } }.sorted()
    }

    func ready(queue: QueueID, epoch: Int64, kind: KindID, limit: Int) throws -> [ReadyEntry] {
        var entries: [ReadyEntry] = []
        entries.reserveCapacity(min(limit, 256))
        try run(.ready) { query in
            query.bind(1, queue.rawValue)
            query.bind(2, epoch)
            query.bind(3, kind.rawValue)
            query.bind(4, Int64(limit))
        } row: { query in
            entries.append(
                ReadyEntry(
                    priority: query.int(0), readyAt: DurableInstant(microseconds: query.int(1)),
                    id: OperationID(query.int(2))))
        }
        return entries
    }

    func oldestReady(queue: QueueID, epoch: Int64, kind: KindID, priority: DurablePriority) throws -> DurableInstant? {
        var oldest: DurableInstant?
        try run(.oldestReady) { query in
            query.bind(1, queue.rawValue)
            query.bind(2, epoch)
            query.bind(3, kind.rawValue)
            query.bind(4, priority.rawValue)
        } row: { query in
            oldest = query.optionalInstant(0)
        }
        return oldest
    }

    func firstBlocked(of shares: [KeyShare]) throws -> [OperationID] { try ids(.firstBlocked, of: shares) }

    func lastReady(of shares: [KeyShare]) throws -> [OperationID] { try ids(.lastReady, of: shares) }

    private func ids(_ sql: SQL, of shares: [KeyShare]) throws -> [OperationID] {
        try shares.flatMap { share in
            try ids(sql) { query in
                query.bind(share.name)
                query.bind(3, share.count)
            }
        }
    }

    func nextWake() throws -> DurableInstant? {
        var instants: [DurableInstant] = []
        for sql in [SQL.nextWake, .nextDeadline, .nextKey, .nextSchedule] {
            try run(sql, { _ in }) { query in
                if let next = query.optionalInstant(0) { instants.append(next) }
            }
        }
        return instants.min()
    }

    func remove(_ ids: [OperationID]) throws {
        let all: [SQL] = [
            .removeOperation, .removeInput, .removeOutput, .removeEdgesTo, .removeUniques, .removeHistory,
            .removeSignals, .removeAttempts,
        ]
        for id in ids {
            for sql in all { try run(sql) { $0.bind(1, id.rawValue) } }
        }
    }
}
