extension DurableMachine {
    /// Compares the redundant columns with a recount, and each state with its reasons.
    ///
    /// All of this holds after each event, at any instant. The memory does not grow with the number of operations, except for keys
    /// and counters.
    ///
    /// - Parameter limit: The largest number of problems.
    /// - Returns: A text for each problem.
    package mutating func problems(limit: Int = 100) throws -> [String] {
        var recount = Recount(keys: try rows.queues().flatMap { try rows.keys(of: $0.id) })
        var filter = DurableFilter()
        while recount.problems.count < limit {
            let ids = try rows.operations(matching: filter)
            guard let last = ids.last else { break }
            try add(ids, to: &recount)
            filter.after = last
        }
        if recount.problems.count < limit {
            var stored: [Counter: Int64] = [:]
            for queue in try rows.queues() {
                stored.merge(try rows.counters(of: queue.id)) { a, _ in a }
                try recount.check(queue, firstUnfinished: rows.firstEpoch(of: queue.id, from: 0))
            }
            recount.compare(with: stored)
        }
        return Array(recount.problems.prefix(limit))
    }

    private mutating func add(_ ids: [OperationID], to recount: inout Recount) throws {
        let page = try rows.operations(ids)
        let edges = try rows.edges(to: ids)
        let dependencies = try rows.operations(Set(edges.map(\.dependency)).sorted())
        let unfinished = Set(dependencies.lazy.filter { !$0.state.isEnded }.map(\.id))
        for edge in edges where !unfinished.contains(edge.dependency) {
            recount.note(
                "operation \(edge.dependent) waits for operation \(edge.dependency), which has ended or is absent")
        }
        let pending = Dictionary(grouping: edges, by: \.dependent).mapValues { Int64($0.count) }
        let parents = page.filter { !$0.state.isEnded }.map(\.id).sorted()
        let children = try rows.operations(rows.unfinishedChildren(of: parents).sorted())
        let counts = Dictionary(grouping: children, by: \.parent).mapValues { Int64($0.count) }
        for row in page {
            let hasWorker = try row.state != .running || row.worker.map { try rows.worker($0) != nil } ?? false
            recount.add(row, pending: pending[row.id] ?? 0, children: counts[row.id] ?? 0, hasWorker: hasWorker)
        }
    }
}

/// The sums over the operations of a store, and the problems so far.
private struct Recount {
    private(set) var problems: [String] = []
    private let stored: [KeyName: KeyRow]
    private var keys: [KeyName: KeyRow] = [:]
    private var counters: [Counter: Int64] = [:]

    init(keys: [KeyRow]) { stored = Dictionary(keys.map { ($0.name, $0) }) { a, _ in a } }

    mutating func note(_ text: String) { problems.append(text) }

    private mutating func require(_ condition: Bool, _ text: @autoclosure () -> String) {
        if !condition { note(text()) }
    }

    mutating func add(_ row: OperationRow, pending: Int64, children: Int64, hasWorker: Bool) {
        counters[row.counter, default: 0] += 1
        if let key = row.key {
            let name = KeyName(queue: row.queue, key: key)
            keys[name, default: KeyRow(name: name)].count(row.state, by: 1)
        }
        let label = "operation \(row.id) in state \(row.state)"
        require(row.pending == pending, "\(label) counts \(row.pending) dependencies, and has \(pending)")
        if !row.state.isEnded {
            require(row.children == children, "\(label) counts \(row.children) children, and has \(children)")
        }
        switch row.state {
        case .waiting: require(row.pending > 0, "\(label) waits for nothing")
        case .scheduled: require(row.wakeAt != nil && row.pending == 0, "\(label) has no wake instant")
        case .blocked: require(row.key != nil && row.pending == 0, "\(label) has no key")
        case .ready: require(row.pending == 0 && row.wakeAt == nil, "\(label) is not ready")
        case .running:
            require(row.pending == 0, "\(label) precedes a dependency")
            require(hasWorker, "\(label) has no worker")
        case .awaitingSignal: require(row.signal != nil && row.pending == 0, "\(label) has no signal")
        case .finishing: require(row.children > 0 && row.workOutcome != nil, "\(label) has no children")
        case .succeeded, .failed, .cancelled, .discarded, .crashed:
            require(row.endedAt != nil && row.purgeAt != nil, "\(label) has no end")
        }
    }

    mutating func check(_ queue: QueueRow, firstUnfinished: Int64?) {
        let first = firstUnfinished ?? queue.lastEpoch
        require(queue.currentEpoch <= first, "queue '\(queue.name)' passed an unfinished epoch")
        require(
            queue.currentEpoch == queue.lastEpoch || first == queue.currentEpoch,
            "queue '\(queue.name)' does not open its next epoch")
    }

    mutating func compare(with storedCounters: [Counter: Int64]) {
        for counter in Set(counters.keys).union(storedCounters.keys) {
            let (stored, found) = (storedCounters[counter] ?? 0, counters[counter] ?? 0)
            require(
                stored == found,
                "queue \(counter.queue) counts \(stored) operations in state \(counter.state), and has \(found)")
        }
        for name in Set(keys.keys).union(stored.keys) {
            let (row, found) = (stored[name] ?? KeyRow(name: name), keys[name] ?? KeyRow(name: name))
            require(
                (row.running, row.ready, row.blocked) == (found.running, found.ready, found.blocked),
                "the counts of key '\(name.key)' of queue \(name.queue) differ from a recount")
        }
    }
}
