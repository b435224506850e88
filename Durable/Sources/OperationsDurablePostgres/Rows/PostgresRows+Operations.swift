#if Postgres
import DurableCore

extension PostgresRows {
    func operations(_ ids: [OperationID]) throws -> [OperationRow] {
        let missing = ids.filter { operations[$0] == nil }
        if !missing.isEmpty {
            let found = try run(.operations) { $0.append(missing) }.map { OperationRow($0) }
            for row in found { operations[row.id] = row }
        }
        return ids.compactMap { operations[$0] }
    }

    func operations(matching filter: DurableFilter) throws -> [OperationID] {
        var (queue, kind): (Int64?, Int64?)
        if let name = filter.queue {
            guard let found = try existingQueue(named: name) else { return [] }
            queue = found.id.rawValue
        }
        if let name = filter.name {
            guard let found = try run(.kindByName, { $0.append(name) }).first else { return [] }
            kind = found.int(0)
        }
        try flushOperations()
        return try ids(.matching) { parameters in
            parameters.append(filter.after?.rawValue ?? 0)
            // A bit for each state.
            parameters.append(filter.states?.reduce(Int64(0)) { $0 | 1 << $1.rawValue })
            parameters.append(queue)
            parameters.append(kind)
            parameters.append(Int64(filter.limit))
            let ages = filter.ages(at: now)
            parameters.append(ages.oldest?.microseconds)
            parameters.append(ages.youngest?.microseconds)
        }
    }

    func operations(_ query: OperationQuery) throws -> [OperationID] {
        guard let sql = PostgresSQL.queries[query.kind], try mayAnswer(query.kind) else { return [] }
        try flushOperations()
        let first = try firstDeadline
        let found = try ids(sql) { parameters in
            query.write(to: &parameters, now: now)
            if sql == .due { parameters.append(floors.wake.microseconds) }
            if sql == .expired { parameters.append(first.microseconds) }
        }
        return query.kind.isUnordered ? found.sorted() : found
    }

    func inputs(of ids: [OperationID]) throws -> [OperationID: [UInt8]] {
        try flushOperations()
        let found = try run(.inputs) { $0.append(ids) }.map { (OperationID($0.int(0)), $0.bytes(1)) }
        return Dictionary(found) { $1 }
    }

    func output(of id: OperationID) throws -> [UInt8]? {
        try flushOperations()
        return try run(.output) { $0.append(id.rawValue) }.first?.bytes(0)
    }

    func removeEdges(from dependencies: [OperationID]) throws -> [Edge] {
        let dependencies = dependencies.filter { !edgeless.contains($0) }
        if dependencies.isEmpty { return [] }
        try flushEdges()
        return try edges(.removeEdges, dependencies)
    }

    func subtractPending(_ counts: [PendingCount]) throws -> [OperationID] {
        // The rows of loaded operations may have changes that are not in the database.
        let stored = counts.filter { operations[$0.operation] == nil }
        var changed: Set<OperationID> = []
        if !stored.isEmpty {
            let found = try ids(.subtractPending) { parameters in
                parameters.append(PostgresArray(stored.lazy.map(\.operation.rawValue)))
                parameters.append(PostgresArray(stored.lazy.map(\.ended)))
            }
            changed = Set(found)
        }
        return counts.map(\.operation).filter { !changed.contains($0) }
    }

    func edges(to dependents: [OperationID]) throws -> [Edge] {
        try flushEdges()
        return try edges(.edgesTo, dependents)
    }

    func edges(from dependencies: [OperationID]) throws -> [Edge] {
        try flushEdges()
        return try edges(.edgesFrom, dependencies)
    }

    private func edges(_ sql: PostgresSQL, _ ids: [OperationID]) throws -> [Edge] {
        if ids.isEmpty { return [] }
        return try run(sql) { $0.append(ids) }.map { Edge($0) }.sorted {
            ($0.dependency, $0.dependent) < ($1.dependency, $1.dependent)
        }
    }

    func unfinishedChildren(of parents: [OperationID]) throws -> [OperationID] {
        try flushOperations()
        return try ids(.children) { $0.append(parents) }.sorted()
    }

    func ready(queue: QueueID, epoch: Int64, kind: KindID, limit: Int) throws -> [ReadyEntry] {
        try flushOperations()
        try validateFloors()
        let lanes = DurablePriority.allCases.map {
            ReadyFloors.Lane(queue: queue, epoch: epoch, kind: kind, priority: $0)
        }
        var found = try first(of: lanes, limit)
        let counter = Counter(queue: queue, epoch: epoch, kind: kind, state: .ready)
        if found.count < limit, try found.count < counters(of: queue, epoch: epoch)[counter] ?? 0 {
            // Operations are ready in front of the floors.
            floors.forget()
            found = try first(of: lanes, limit)
        }
        learn(found, of: lanes)
        return found
    }

    func validateFloors() throws { floors.validate(number: try numberIfAny("early_ready"), now: now) }

    private func learn(_ found: [ReadyEntry], of lanes: [ReadyFloors.Lane]) {
        for lane in lanes {
            guard let first = found.first(where: { $0.priority == lane.priority.rawValue }) else { continue }
            floors.learn(first, of: lane, now: now)
        }
    }

    func firstBlocked(of shares: [KeyShare]) throws -> [OperationID] {
        try flushOperations()
        try validateFloors()
        let lanes = try shares.map { share in
            let epoch = try queue(share.name.queue).currentEpoch
            return DurablePriority.allCases.map {
                ReadyFloors.Lane(
                    queue: share.name.queue, epoch: epoch, key: ExactName(share.name.key), priority: $0)
            }
        }
        let entries = try run(.blocked) { parameters in
            parameters.append(shares)
            parameters.append(PostgresArray(lanes.lazy.map { $0[0].epoch }))
            for index in DurablePriority.allCases.indices {
                let places = lanes.map { floors.floor(of: $0[index]) }
                parameters.append(PostgresArray(places.lazy.map(\.readyAt.microseconds)))
                parameters.append(PostgresArray(places.lazy.map(\.id.rawValue)))
            }
        }.map { (share: Int($0.int(0)) - 1, entry: Self.entry($0, from: 1)) }
        let found = Dictionary(grouping: entries, by: \.share).mapValues { $0.map(\.entry).sorted() }
        // Others may precede the operations of a key if there are too few.
        let early = shares.indices.filter { Int64(found[$0]?.count ?? 0) < shares[$0].count }
        if !early.isEmpty { floors.forget() }
        var ids = early.isEmpty ? [] : try ids(.firstBlocked) { $0.append(early.map { shares[$0] }) }
        for (index, entries) in found where Int64(entries.count) == shares[index].count {
            if early.isEmpty { learn(entries, of: lanes[index]) }
            ids += entries.map(\.id)
        }
        return ids
    }

    func lastReady(of shares: [KeyShare]) throws -> [OperationID] {
        try flushOperations()
        return try ids(.lastReady) { $0.append(shares) }
    }

    /// Returns the first operations at and behind the floors of the lanes, which differ in priority only.
    private func first(of lanes: [ReadyFloors.Lane], _ limit: Int) throws -> [ReadyEntry] {
        guard let lane = lanes.first, let kind = lane.kind else { return [] }
        return try run(.ready) { parameters in
            parameters.append(lane.queue.rawValue)
            parameters.append(lane.epoch)
            parameters.append(kind.rawValue)
            parameters.append(Int64(limit))
            for lane in lanes {
                let floor = floors.floor(of: lane)
                parameters.append(floor.readyAt.microseconds)
                parameters.append(floor.id.rawValue)
            }
        }.map { Self.entry($0, from: 0) }.sorted()
    }

    private static func entry(_ record: PostgresRecord, from column: Int) -> ReadyEntry {
        ReadyEntry(
            priority: record.int(column), readyAt: DurableInstant(microseconds: record.int(column + 1)),
            id: OperationID(record.int(column + 2)))
    }

    func oldestReady(queue: QueueID, epoch: Int64, kind: KindID, priority: DurablePriority) throws -> DurableInstant? {
        try flushOperations()
        return try run(.oldestReady) { parameters in
            parameters.append(queue.rawValue)
            parameters.append(epoch)
            parameters.append(kind.rawValue)
            parameters.append(priority.rawValue)
        }.first?.optionalInstant(0)
    }

    func remove(_ ids: [OperationID]) throws {
        if ids.isEmpty { return }
        try flushOperations()
        try flushEdges()
        try flushRecords()
        let all: [PostgresSQL] = [
            .removeOperations, .removeInputs, .removeOutputs, .removeEdgesTo, .removeUniques, .removeHistory,
            .removeSignals, .removeAttempts,
        ]
        for sql in all { try write(sql) { $0.append(ids) } }
        for id in ids { operations[id] = nil }
        wakes = nil
    }
}

extension PostgresParameters {
    mutating func append(_ ids: [OperationID]) { append(PostgresArray(ids.lazy.map(\.rawValue))) }

    mutating func append(_ shares: [KeyShare]) {
        append(PostgresArray(shares.lazy.map(\.name.queue.rawValue)))
        append(PostgresArray(.text, shares.lazy.map(\.name.key)) { $0.append($1) })
        append(PostgresArray(shares.lazy.map(\.count)))
    }

    mutating func append(_ now: DurableInstant, _ limit: Int) {
        append(now.microseconds)
        append(Int64(limit))
    }
}
#endif
