// Waits through any number of barriers. `DurableMachine+Cycles.swift` checks the waits without a barrier.

/// The waits of unfinished operations, as far as they are loaded.
struct WaitGraph {
    enum Node: Hashable {
        case operation(OperationID)
        /// All unfinished operations of the queue in front of the epoch.
        case front(QueueID, epoch: Int64)
    }

    /// The nodes that each node waits for.
    private(set) var links: [Node: [Node]] = [:]
    /// The unfinished operations of each loaded epoch of a queue that wait for others, in ascending order of epochs.
    private var epochs: [QueueID: [(epoch: Int64, operations: [OperationID])]] = [:]
    /// The first epoch of each queue that is not loaded.
    private var loaded: [QueueID: Int64] = [:]

    func contains(_ id: OperationID) -> Bool { links[.operation(id)] != nil }

    /// Returns the epochs in front of an epoch that are not loaded; nil if there are none.
    func missingEpochs(of queue: QueueID, before epoch: Int64) -> Range<Int64>? {
        let first = loaded[queue] ?? 0
        return first < epoch ? first..<epoch : nil
    }

    mutating func setEpochs(_ range: Range<Int64>, of queue: QueueID, _ rows: [OperationRow]) {
        let found = rows.filter { $0.queue == queue && range.contains($0.epoch) }
        epochs[queue, default: []] += Dictionary(grouping: found, by: \.epoch).sorted { $0.key < $1.key }
            .map { ($0, $1.map(\.id)) }
        loaded[queue] = range.upperBound
    }

    mutating func add(_ id: OperationID, waitingFor others: [OperationID] = []) {
        links[.operation(id), default: []] += others.map { .operation($0) }
    }

    /// Adds the wait of an operation for all earlier epochs of its queue. Returns the operations of these epochs.
    mutating func addFront(of row: OperationRow) -> [OperationID] {
        var (epoch, found): (Int64, [OperationID]) = (row.epoch, [])
        links[.operation(row.id), default: []].append(.front(row.queue, epoch: epoch))
        let known = epochs[row.queue] ?? []
        var index = known.partitioningIndex { $0.epoch >= epoch }
        // A chain of fronts, so that many operations of one epoch share the links.
        while index > 0, links[.front(row.queue, epoch: epoch)] == nil {
            index -= 1
            let earlier = known[index]
            links[.front(row.queue, epoch: epoch)] =
                earlier.operations.map { .operation($0) } + [.front(row.queue, epoch: earlier.epoch)]
            found += earlier.operations
            epoch = earlier.epoch
        }
        return found
    }

    /// Returns the operations of a path of at least one wait from one operation to the other; nil if there is none.
    func path(from first: OperationID, to last: OperationID) -> [OperationID]? {
        let (start, end) = (Node.operation(first), Node.operation(last))
        var (cameFrom, front): ([Node: Node], [Node]) = ([:], [start])
        while let node = front.popLast() {
            for next in links[node] ?? [] where cameFrom[next] == nil {
                cameFrom[next] = node
                if next == end { return path(from: start, to: end, cameFrom) }
                front.append(next)
            }
        }
        return nil
    }

    private func path(from start: Node, to end: Node, _ cameFrom: [Node: Node]) -> [OperationID] {
        var path = [end]
        repeat { path.append(cameFrom[path[path.count - 1]] ?? start) } while path.last != start
        return path.reversed().compactMap { if case .operation(let id) = $0 { id } else { nil } }
    }
}

extension DurableMachine {
    /// Throws `cycle` if one of the operations waits for itself at its new place.
    ///
    /// O(operations that wait for the operations). If one of those has a barrier behind it, also O(operations that the operations
    /// wait for).
    ///
    /// - Parameter changed: The operations with new places. The working set has the places, and the rows do not have them yet.
    mutating func checkNoCycle(through changed: [OperationID]) throws {
        var graph = WaitGraph()
        for row in try existingOperations(changed) where try mayWaitForItself(row) {
            try loadWaits(of: [row.id], into: &graph)
            guard let cycle = graph.path(from: row.id, to: row.id) else { continue }
            throw DurableError.cycle(cycle.map { "operation \($0)" })
        }
    }

    /// Throws `cycle` if one of the operations, or one that they wait for, is behind a barrier that waits for the operation.
    ///
    /// - Parameters:
    ///   - behind: The first epoch in each queue of the operations that wait for the operation without a barrier.
    ///   - others: The operations that the operation waits for. Some of them may be in the working set only.
    mutating func checkNotBehind(
        _ behind: [QueueID: Int64], from row: OperationRow, to others: [OperationID]
    ) throws {
        var graph = WaitGraph()
        graph.add(row.id, waitingFor: others)
        let inserted = work.inserted
        let hit = try loadWaits(of: others, into: &graph) { waiting in
            if waiting.state.waitsForBarriers, let epoch = behind[waiting.queue], waiting.epoch > epoch { return .hit }
            // An earlier child was checked when it was added.
            let isChecked = waiting.parent == row.id && !inserted.isEmpty && !inserted.contains(waiting.id)
            return isChecked ? .end : .further
        }
        if let hit, let path = graph.path(from: row.id, to: hit.id) {
            let name = try queue(hit.queue).name
            throw DurableError.cycle(
                path.map { "operation \($0)" } + ["a barrier of queue '\(name)'", "operation \(row.id)"])
        }
        if let cycle = graph.path(from: row.id, to: row.id) {
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

    /// The decision about one operation of a walk along waits.
    private enum Step {
        /// The walk ends.
        case hit
        /// The walk goes no further along the waits of the operation.
        case end
        case further
    }

    /// Loads everything that the operations wait for, round by round. Returns the operation that ends the walk.
    ///
    /// - Parameter step: Decides about each unfinished operation.
    @discardableResult
    private mutating func loadWaits(
        of ids: [OperationID], into graph: inout WaitGraph, _ step: (OperationRow) -> Step = { _ in .further }
    ) throws -> OperationRow? {
        // The rows do not have the places of these operations yet.
        let changed = work.inserted.union(work.updated).sorted()
        let newEdges = Dictionary(grouping: work.changes.edges, by: \.dependent)
        let newChildren = try Dictionary(
            grouping: unfinished(changed).filter { $0.parent != nil }, by: { $0.parent ?? $0.id })
        var front = ids
        while !front.isEmpty {
            try load(front)
            var found = Set(front).sorted().compactMap { work.operations[$0] }
                .filter { !$0.state.isEnded && !graph.contains($0.id) }
            if let hit = found.first(where: { step($0) == .hit }) { return hit }
            for row in found { graph.add(row.id) }
            found = found.filter { step($0) == .further }
            let ids = found.map(\.id)
            let parents = Set(ids)
            var next: [OperationID] = []
            for edge in try rows.edges(to: ids) + ids.flatMap({ newEdges[$0] ?? [] }) {
                graph.add(edge.dependent, waitingFor: [edge.dependency])
                next.append(edge.dependency)
            }
            let children = try unfinished(rows.unfinishedChildren(of: ids)) + ids.flatMap { newChildren[$0] ?? [] }
            for child in children {
                guard let parent = child.parent, parents.contains(parent) else { continue }
                graph.add(parent, waitingFor: [child.id])
                next.append(child.id)
            }
            for row in found where try row.state.waitsForBarriers && row.epoch > queue(row.queue).currentEpoch {
                try loadEpochs(of: row.queue, before: row.epoch, changed: changed, into: &graph)
                next += graph.addFront(of: row)
            }
            front = next
        }
        return nil
    }

    /// Loads the operations in front of an epoch that wait for others. All others end no path.
    private mutating func loadEpochs(
        of id: QueueID, before epoch: Int64, changed: [OperationID], into graph: inout WaitGraph
    ) throws {
        guard let range = graph.missingEpochs(of: id, before: epoch) else { return }
        let members = try unfinished(rows.operations(.waiting(id, epochs: range)) + changed)
        graph.setEpochs(range, of: id, members)
    }

    private mutating func unfinished(_ ids: [OperationID]) throws -> [OperationRow] {
        try existingOperations(ids).filter { !$0.state.isEnded }
    }
}

extension Array {
    /// Returns the first index whose element belongs to the second part. All elements of the first part come before it.
    fileprivate func partitioningIndex(_ belongsToSecond: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if belongsToSecond(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

extension DurableState {
    /// Whether an operation in the state needs the current epoch of its queue before its end.
    fileprivate var waitsForBarriers: Bool {
        switch self {
        case .waiting, .scheduled, .blocked, .ready, .awaitingSignal: true
        case .running, .finishing, .succeeded, .failed, .cancelled, .discarded, .crashed: false
        }
    }
}
