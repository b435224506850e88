// Waits that a retry or a move would close to a cycle. Other events check their waits in `DurableMachine+Cycles.swift`.

/// The waits of unfinished operations, as far as they are loaded.
struct WaitGraph {
    enum Node: Hashable {
        case operation(OperationID)
        /// All unfinished operations of the queue in front of the epoch.
        case front(QueueID, epoch: Int64)
    }

    /// The nodes that each node waits for.
    private(set) var links: [Node: [Node]] = [:]
    /// The unfinished operations of each epoch of a queue, in ascending order of epochs.
    private var epochs: [QueueID: [(epoch: Int64, operations: [OperationID])]] = [:]

    func contains(_ id: OperationID) -> Bool { links[.operation(id)] != nil }

    func hasEpochs(of queue: QueueID) -> Bool { epochs[queue] != nil }

    mutating func setEpochs(of queue: QueueID, _ rows: [OperationRow]) {
        epochs[queue] = Dictionary(grouping: rows, by: \.epoch).sorted { $0.key < $1.key }.map { ($0, $1.map(\.id)) }
    }

    mutating func add(_ id: OperationID, waitingFor others: [OperationID] = []) {
        links[.operation(id), default: []] += others.map { .operation($0) }
    }

    /// Adds the wait of an operation for all earlier epochs of its queue. Returns the operations of these epochs.
    mutating func addFront(of row: OperationRow) -> [OperationID] {
        var (epoch, found): (Int64, [OperationID]) = (row.epoch, [])
        links[.operation(row.id), default: []].append(.front(row.queue, epoch: epoch))
        // A chain of fronts, so that many operations of one epoch share the links.
        while links[.front(row.queue, epoch: epoch)] == nil {
            guard let earlier = epochs[row.queue]?.last(where: { $0.epoch < epoch }) else { break }
            links[.front(row.queue, epoch: epoch)] =
                earlier.operations.map { .operation($0) } + [.front(row.queue, epoch: earlier.epoch)]
            found += earlier.operations
            epoch = earlier.epoch
        }
        return found
    }

    /// Returns the operations of a path of waits from the operation to itself; nil if there is none.
    func cycle(through id: OperationID) -> [OperationID]? {
        let start = Node.operation(id)
        var (cameFrom, front): ([Node: Node], [Node]) = ([:], [start])
        while let node = front.popLast() {
            for next in links[node] ?? [] where cameFrom[next] == nil {
                cameFrom[next] = node
                if next == start { return path(to: start, cameFrom) }
                front.append(next)
            }
        }
        return nil
    }

    private func path(to start: Node, _ cameFrom: [Node: Node]) -> [OperationID] {
        var path = [start]
        repeat { path.append(cameFrom[path[path.count - 1]] ?? start) } while path.last != start
        return path.reversed().compactMap { if case .operation(let id) = $0 { id } else { nil } }
    }
}

extension DurableMachine {
    /// Throws `cycle` if one of the operations waits for itself at its new place.
    ///
    /// O(operations that wait for the operations), unless one of those has a barrier behind it. Then the time grows with the
    /// number of stored operations.
    ///
    /// - Parameter changed: The operations with new places. The working set has the places, and the rows do not have them yet.
    mutating func checkNoCycle(through changed: [OperationID]) throws {
        var graph = WaitGraph()
        for row in try existingOperations(changed) where try mayWaitForItself(row) {
            try loadWaits(of: row.id, changed: changed, into: &graph)
            guard let cycle = graph.cycle(through: row.id) else { continue }
            throw DurableError.cycle(cycle.map { "operation \($0)" })
        }
    }

    /// Returns whether an operation may wait for itself through a barrier.
    ///
    /// - Throws: `cycle` if the operation waits for an operation that waits for it without a barrier.
    private mutating func mayWaitForItself(_ row: OperationRow) throws -> Bool {
        let awaited = Set(
            try rows.edges(to: [row.id]).map(\.dependency) + rows.unfinishedChildren(of: [row.id]))
        if try awaited.isEmpty && row.epoch <= queue(row.queue).currentEpoch { return false }
        var (cameFrom, isInFront): ([OperationID: OperationID], Bool) = ([:], false)
        try visitWaiting(for: row.id) { machine, links, found in
            for link in links { cameFrom[link.dependent] = link.dependency }
            let hit = found.first {
                awaited.contains($0.id) || $0.queue == row.queue && $0.epoch < row.epoch
            }
            if let hit {
                var path = [row.id, hit.id]
                while let last = path.last, let next = cameFrom[last] { path.append(next) }
                throw DurableError.cycle(path.map { "operation \($0)" })
            }
            for waiting in found where try machine.queue(waiting.queue).lastEpoch > waiting.epoch { isInFront = true }
        }
        return isInFront
    }

    /// Loads everything that the operation waits for, round by round.
    private mutating func loadWaits(
        of id: OperationID, changed: [OperationID], into graph: inout WaitGraph
    ) throws {
        var front = [id]
        while !front.isEmpty {
            try load(front)
            let found = Set(front).sorted().compactMap { work.operations[$0] }
                .filter { !$0.state.isEnded && !graph.contains($0.id) }
            let ids = found.map(\.id)
            let parents = Set(ids)
            for id in ids { graph.add(id) }
            var next: [OperationID] = []
            for edge in try rows.edges(to: ids) {
                graph.add(edge.dependent, waitingFor: [edge.dependency])
                next.append(edge.dependency)
            }
            for child in try unfinished(rows.unfinishedChildren(of: ids) + changed) {
                guard let parent = child.parent, parents.contains(parent) else { continue }
                graph.add(parent, waitingFor: [child.id])
                next.append(child.id)
            }
            for row in found where try row.state.waitsForBarriers && row.epoch > queue(row.queue).currentEpoch {
                try loadEpochs(of: row.queue, changed: changed, into: &graph)
                next += graph.addFront(of: row)
            }
            front = next
        }
    }

    private mutating func loadEpochs(of id: QueueID, changed: [OperationID], into graph: inout WaitGraph) throws {
        if graph.hasEpochs(of: id) { return }
        var filter = DurableFilter(states: Set(DurableState.allCases.filter { !$0.isEnded }), queue: try queue(id).name)
        filter.limit = .max
        let members = try unfinished(rows.operations(matching: filter) + changed)
        graph.setEpochs(of: id, members.filter { $0.queue == id })
    }

    private mutating func unfinished(_ ids: [OperationID]) throws -> [OperationRow] {
        try existingOperations(ids).filter { !$0.state.isEnded }
    }
}

extension DurableState {
    /// Whether an operation in the state needs the current epoch of its queue before its end.
    fileprivate var waitsForBarriers: Bool {
        switch self {
        case .waiting, .scheduled, .blocked, .ready, .awaitingSignal: true
        case .running, .finishing, .succeeded, .failed, .cancelled, .discarded: false
        }
    }
}
