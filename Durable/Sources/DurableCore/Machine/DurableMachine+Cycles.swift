// Waits that would never end. An operation waits for its dependencies, for its children, and for all operations before the last
// barrier in front of it.

extension DurableMachine {
    /// Throws `cycle` if an operation of the set waits for the operation, directly or through others.
    ///
    /// Of a path through several barriers, the method finds the first one.
    mutating func checkNoCycle(from row: OperationRow, to targets: Set<OperationID>) throws {
        if targets.isEmpty { return }
        var cameFrom: [OperationID: OperationID] = [:]
        // The queues with a barrier behind an operation that waits for `row`, and the first epoch in front of it.
        var behind: [QueueID: Int64] = [:]
        try visitWaiting(for: row.id) { machine, links, found in
            for link in links { cameFrom[link.dependent] = link.dependency }
            if let hit = found.first(where: { targets.contains($0.id) }) {
                var path = [hit.id]
                while let last = path.last, let before = cameFrom[last] { path.append(before) }
                throw DurableError.cycle((path.reversed() + [row.id]).map { "operation \($0)" })
            }
            for waiting in found where try machine.queue(waiting.queue).lastEpoch > waiting.epoch {
                behind[waiting.queue] = min(behind[waiting.queue] ?? waiting.epoch, waiting.epoch)
            }
        }
        if !behind.isEmpty { try checkNotBehind(behind, targets, from: row) }
    }

    /// Calls `visit` with the operation, and then round by round with the unfinished operations that wait for it without a
    /// barrier. The links are those by which the operations of the round were found.
    mutating func visitWaiting(
        for operation: OperationID, _ visit: (inout Self, _ links: [Edge], _ found: [OperationRow]) throws -> Void
    ) throws {
        var seen: Set<OperationID> = [operation]
        var (links, front): ([Edge], [OperationID]) = ([], [operation])
        while !front.isEmpty {
            try load(front)
            // An operation that ended while it waited keeps its edges until its dependencies end, but waits for nothing.
            let found = front.compactMap { work.operations[$0] }.filter { !$0.state.isEnded }
            try visit(&self, links, found)
            let parents = found.compactMap { child in
                child.parent.map { Edge(dependency: child.id, dependent: $0) }
            }
            let edges = try rows.edges(from: found.map(\.id).sorted())
            links = (edges + parents).filter { seen.insert($0.dependent).inserted }
            front = links.map(\.dependent)
        }
    }

    /// Throws `cycle` if one of the operations, or one that they wait for, is behind a barrier that waits for the operation.
    private mutating func checkNotBehind(
        _ behind: [QueueID: Int64], _ targets: Set<OperationID>, from row: OperationRow
    ) throws {
        var (seen, front) = (targets, targets.sorted())
        while !front.isEmpty {
            try load(front)
            for id in front {
                guard let waiting = work.operations[id], !waiting.state.isEnded, let epoch = behind[waiting.queue],
                    waiting.epoch > epoch
                else { continue }
                let name = try queue(waiting.queue).name
                throw DurableError.cycle(
                    ["operation \(row.id)", "operation \(id)", "a barrier of queue '\(name)'", "operation \(row.id)"])
            }
            let before = try rows.edges(to: front).map(\.dependency) + rows.unfinishedChildren(of: front)
            front = before.filter { seen.insert($0).inserted }.sorted()
        }
    }

    /// Throws `cycle` if a child of the operation would wait for an operation that waits for the end of the operation.
    ///
    /// - Parameter batch: The members, without those whose unique key is held.
    mutating func checkNoCycle(ofChildrenIn batch: [NewOperation], of parent: OperationRow) throws {
        var (awaited, seen): (Set<OperationID>, Set<Int>) = ([], [])
        var front = batch.indices.filter { batch[$0].isChild }
        while let index = front.popLast() {
            guard seen.insert(index).inserted else { continue }
            for dependency in batch[index].after {
                switch dependency {
                case .existing(let id): awaited.insert(id)
                case .member(let earlier): if batch.indices.contains(earlier) { front.append(earlier) }
                }
            }
        }
        // Other children were checked when they were added. Checking them again would take quadratic time for a chain.
        let unfinished = try existingOperations(Array(awaited)).filter { row in
            !row.state.isEnded && row.parent != parent.id
        }
        try checkNoCycle(from: parent, to: Set(unfinished.map(\.id)))
    }

    /// Returns the first epoch in a queue of an operation that waits for the operation, or of the operation itself; nil if there
    /// is none. O(operations that wait for the operation).
    ///
    /// Behind a barrier, a child of the operation would wait for the barrier. The barrier waits for the operation in front of
    /// it, and so for the child.
    mutating func firstEpoch(in queue: QueueID, waitingFor operation: OperationID?) throws -> Int64? {
        guard let operation else { return nil }
        var epoch: Int64?
        try visitWaiting(for: operation) { _, _, found in
            for waiting in found where waiting.queue == queue { epoch = min(epoch ?? waiting.epoch, waiting.epoch) }
        }
        return epoch
    }

    /// Returns the epoch of an operation in a queue: the last one, unless that is behind a barrier that waits for the operation.
    ///
    /// In front of such a barrier, the epoch is the one before that of the barrier, also if the barrier runs. Only barriers
    /// have epochs with odd numbers.
    mutating func epoch(in queue: QueueRow, waitingFor operation: OperationID?) throws -> Int64 {
        // Without a barrier, all unfinished operations of the queue are in the last epoch.
        guard queue.currentEpoch < queue.lastEpoch else { return queue.lastEpoch }
        guard let first = try firstEpoch(in: queue.id, waitingFor: operation) else { return queue.lastEpoch }
        return QueueRow.isBarrierEpoch(first) ? first - 1 : first
    }
}
