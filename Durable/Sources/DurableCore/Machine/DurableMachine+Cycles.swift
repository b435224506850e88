// Waits that would never end. An operation waits for its dependencies, for its children, and for all operations before the last
// barrier in front of it.

extension DurableMachine {
    /// Throws `cycle` if one of the operations waits for the operation: directly, through others, or through barriers.
    ///
    /// O(operations that wait for the operation without a barrier). If one of those has a barrier behind it, also O(operations
    /// that the others wait for).
    ///
    /// - Parameters:
    ///   - targets: The stored operations that the operation, or one of its new children, waits for.
    ///   - children: The new children of the operation, which only the working set has.
    mutating func checkNoCycle(
        from row: OperationRow, to targets: Set<OperationID>, throughNew children: [OperationID] = []
    ) throws {
        if targets.isEmpty, children.isEmpty { return }
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
        // The last step of each other path leads through a barrier to one of the operations that were visited.
        if behind.isEmpty { return }
        try checkNotBehind(behind, from: row, to: children.isEmpty ? targets.sorted() : children)
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
            let ids = found.map(\.id).sorted()
            let edges = try rows.edges(from: ids) + ids.flatMap { work.edgesOfMembers[$0] ?? [] }
            links = (edges + parents).filter { seen.insert($0.dependent).inserted }
            front = links.map(\.dependent)
        }
    }

    /// Throws `cycle` if a child of the operation would wait for an operation that waits for the end of the operation.
    ///
    /// - Parameters:
    ///   - batch: The members. No member depends on one whose unique key is held.
    ///   - ids: The identifiers of the members.
    ///   - new: The indices of the new members, which the working set has.
    mutating func checkNoCycle(
        ofChildrenIn batch: [NewOperation], _ ids: [OperationID], new: [Int], of parent: OperationRow
    ) throws {
        var (awaited, seen): (Set<OperationID>, Set<Int>) = ([], [])
        let children = new.filter { batch[$0].isChild }
        var front = children
        while let index = front.popLast() {
            guard seen.insert(index).inserted else { continue }
            for dependency in batch[index].after {
                switch dependency {
                case .existing(let id): awaited.insert(id)
                case .member(let earlier): front.append(earlier)
                }
            }
        }
        // Other children were checked when they were added. Checking them again would take quadratic time for a chain.
        let unfinished = try existingOperations(Array(awaited)).filter { row in
            !row.state.isEnded && row.parent != parent.id
        }
        let members = try existingOperations(seen.map { ids[$0] })
        // Without a dependency, a member waits only for barriers.
        if unfinished.isEmpty, try members.allSatisfy({ try $0.epoch <= queue($0.queue).currentEpoch }) { return }
        try checkNoCycle(from: parent, to: Set(unfinished.map(\.id)), throughNew: children.map { ids[$0] })
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
