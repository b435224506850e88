/// Which operations barriers keep apart.
struct BarrierOrder {
    /// For every operation, the index of the last barrier queued before it in its queue.
    private(set) var ahead: [Int?] = []
    /// For every barrier, the indices of the operations queued before it, back to the barrier before that.
    private(set) var gathered: [Int: [Int]] = [:]

    /// Looks for the barriers among operations in the order in which they are queued.
    init(_ operations: [PlannedOperation]) {
        var lastBarrier: [String: Int] = [:]
        var sinceBarrier: [String: [Int]] = [:]
        for (index, operation) in operations.enumerated() {
            ahead.append(lastBarrier[operation.queue])
            if operation.isBarrier {
                gathered[index] = sinceBarrier.updateValue([], forKey: operation.queue)
                lastBarrier[operation.queue] = index
            } else {
                sinceBarrier[operation.queue, default: []].append(index)
            }
        }
    }
}

/// An order in which operations could run one by one, and the cycles that keep some from ever running.
struct ExecutionOrder {
    /// One operation waiting for another.
    struct Link: Equatable {
        /// What makes an operation wait for another.
        enum Reason { case after, behindBarrier, gatheredByBarrier }

        /// The index of the operation that waits.
        let waiting: Int
        /// The index of the one it waits for.
        let awaited: Int
        /// What makes it wait.
        let reason: Reason
    }

    /// Links each of which awaits the one that waits in the next, the last one the first; it starts with the
    /// operation that stands first in the file.
    typealias Cycle = [Link]

    /// The indices of all operations that are in no cycle, and wait for none, in that order.
    private(set) var possible: [Int] = []
    /// The cycles. No operation is in two of them, so that mending these may bring up more.
    private(set) var cycles: [Cycle] = []

    /// Orders operations by their dependencies and by barriers.
    init(_ operations: [PlannedOperation], barriers: BarrierOrder) {
        let links = operations.indices.map { index in
            operations[index].dependencies.map { Link(waiting: index, awaited: $0, reason: .after) }
                + (barriers.ahead[index].map { [Link(waiting: index, awaited: $0, reason: .behindBarrier)] } ?? [])
                + (barriers.gathered[index] ?? []).map { Link(waiting: index, awaited: $0, reason: .gatheredByBarrier) }
        }
        var waiting = links.map(\.count)
        var dependents = [[Int]](repeating: [], count: operations.count)
        for link in links.joined() { dependents[link.awaited].append(link.waiting) }
        var isDone = [Bool](repeating: false, count: operations.count)
        var ready = operations.indices.filter { waiting[$0] == 0 }

        func finish(_ finished: [Int]) {
            for index in finished { isDone[index] = true }
            for dependent in finished.flatMap({ dependents[$0] }) where !isDone[dependent] {
                waiting[dependent] -= 1
                if waiting[dependent] == 0 { ready.append(dependent) }
            }
        }
        var next = 0
        var firstLeft = 0
        var search = CycleSearch(links)
        while true {
            while next < ready.count {
                possible.append(ready[next])
                finish([ready[next]])
                next += 1
            }
            while firstLeft < isDone.count, isDone[firstLeft] { firstLeft += 1 }
            guard firstLeft < isDone.count else { return }
            // An operation that is left waits for one that is left, so following the links must come round.
            let cycle = search.cycle(from: firstLeft) { !isDone[$0] }
            cycles.append(cycle)
            finish(cycle.map(\.waiting))
        }
    }
}

/// Follows links until they come round, again and again as cycles are taken out.
///
/// It continues where it was: to walk a long way to each of many cycles from its start would take the square of the time.
private struct CycleSearch {
    private let links: [[ExecutionOrder.Link]]
    /// How many links of each operation lead to what is not left any more. What has left never comes back.
    private var passed: [Int]
    private var path: [ExecutionOrder.Link] = []
    /// Where on the path an operation waits.
    private var steps: [Int: Int] = [:]

    init(_ links: [[ExecutionOrder.Link]]) {
        self.links = links
        passed = Array(repeating: 0, count: links.count)
    }

    /// A cycle among what is left, that can be reached from `start`, which is left.
    mutating func cycle(from start: Int, isLeft: (Int) -> Bool) -> ExecutionOrder.Cycle {
        // What has left the path since the last time was at its end: what waits for something left is left.
        while let last = path.last, !isLeft(last.waiting) || !isLeft(last.awaited) { forget(last) }
        var current = path.last?.awaited ?? start
        while steps[current] == nil {
            steps[current] = path.count
            while passed[current] < links[current].count, !isLeft(links[current][passed[current]].awaited) {
                passed[current] += 1
            }
            guard passed[current] < links[current].count else { return path }
            path.append(links[current][passed[current]])
            current = links[current][passed[current]].awaited
        }
        let cycle = path[steps[current]!...]
        let first = cycle.indices.min { cycle[$0].waiting < cycle[$1].waiting } ?? cycle.startIndex
        return Array(cycle[first...] + cycle[..<first])
    }

    private mutating func forget(_ link: ExecutionOrder.Link) {
        path.removeLast()
        steps[link.waiting] = nil
    }
}
