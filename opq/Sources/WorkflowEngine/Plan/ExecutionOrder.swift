/// The orderings that barriers impose on the operations of each queue.
struct BarrierOrder {
    /// The index of the last barrier that was queued before each operation in the operation's queue.
    private(set) var ahead: [Int?] = []
    /// The indices of the operations between each barrier and the previous barrier of its queue.
    private(set) var gathered: [Int: [Int]] = [:]

    /// Creates the orderings from operations in the order in which they are queued.
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

/// An order in which the operations could run one at a time, and the cycles that prevent operations from running.
struct ExecutionOrder {
    /// An edge of the graph: one operation waits for another operation.
    struct Link: Equatable {
        /// The reason why one operation waits for another.
        enum Reason { case after, behindBarrier, gatheredByBarrier }

        /// The index of the operation that waits.
        let waiting: Int
        /// The index of the operation for which the waiting operation waits.
        let awaited: Int
        /// The reason for the wait.
        let reason: Reason
    }

    /// A closed path of links. Each link awaits the operation that waits in the next link, and the last link awaits the first
    /// operation. The path starts with the operation that comes first in the file.
    typealias Cycle = [Link]

    /// The indices of the operations that can run, in a possible order. Operations in cycles, and operations that wait for
    /// cycles, are absent.
    private(set) var possible: [Int] = []
    /// The cycles that were found. Each operation is in at most one of them, so fixing these cycles may reveal more.
    private(set) var cycles: [Cycle] = []

    /// Creates an order from the dependencies and the barriers of operations. The time is linear in the number of links.
    ///
    /// The links of families lead through joins, whose indices follow those of the operations. A join waits for all members
    /// of a family, and the operations that come after the family wait for the join.
    init(_ operations: [PlannedOperation], barriers: BarrierOrder) {
        // Barriers wait for earlier operations only. If `after` does so too, which is usual, the order of the file is possible.
        if operations.indices.allSatisfy({ index in operations[index].awaited.allSatisfy { $0.upperBound <= index } }) {
            possible = Array(operations.indices)
            return
        }
        let families = Array(Set(operations.lazy.flatMap(\.awaited).filter { $0.count > 1 }))
        let joins = Dictionary(uniqueKeysWithValues: zip(families, operations.count...))
        var links = operations.indices.map { index in
            operations[index].awaited.map {
                Link(waiting: index, awaited: joins[$0] ?? $0.lowerBound, reason: .after)
            }
                + (barriers.ahead[index].map { [Link(waiting: index, awaited: $0, reason: .behindBarrier)] } ?? [])
                + (barriers.gathered[index] ?? []).map { Link(waiting: index, awaited: $0, reason: .gatheredByBarrier) }
        }
        links += zip(families, operations.count...).map { family, join in
            family.map { Link(waiting: join, awaited: $0, reason: .after) }
        }
        var waiting = links.map(\.count)
        var dependents = [[Int]](repeating: [], count: links.count)
        for link in links.joined() { dependents[link.awaited].append(link.waiting) }
        var isDone = [Bool](repeating: false, count: links.count)
        var ready = operations.indices.filter { waiting[$0] == 0 }

        func finish(_ finished: [Int]) {
            for index in finished { isDone[index] = true }
            var finished = finished
            var freed: [Int] = []
            while let index = finished.popLast() {
                for dependent in dependents[index] where !isDone[dependent] {
                    waiting[dependent] -= 1
                    guard waiting[dependent] == 0 else { continue }
                    if dependent < operations.count {
                        freed.append(dependent)
                    } else {
                        isDone[dependent] = true
                        finished.append(dependent)
                    }
                }
            }
            // The order of the file. Without the sort, operations behind a join would precede others.
            ready += freed.sorted()
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
            while firstLeft < operations.count, isDone[firstLeft] { firstLeft += 1 }
            guard firstLeft < operations.count else { return }
            // Every remaining operation waits for another remaining operation, so the links must lead to a cycle.
            let path = search.cycle(from: firstLeft) { !isDone[$0] }
            let cycle = Self.withoutJoins(path, operationCount: operations.count)
            cycles.append(cycle)
            finish(cycle.map(\.waiting))
        }
    }

    /// Replaces the two links that meet at each join by one link. A cycle does not start with a join, because the index of a
    /// join is larger than that of any operation.
    private static func withoutJoins(_ cycle: Cycle, operationCount: Int) -> Cycle {
        zip(cycle, cycle.dropFirst() + cycle.prefix(1)).filter { $0.0.waiting < operationCount }.map { link, next in
            let awaited = link.awaited < operationCount ? link.awaited : next.awaited
            return Link(waiting: link.waiting, awaited: awaited, reason: link.reason)
        }
    }
}

/// A search that follows links until it finds a cycle. The caller removes the cycle before the next search.
///
/// Each search continues on the path of the previous search. A search that restarted each time would take quadratic time.
private struct CycleSearch {
    private let links: [[ExecutionOrder.Link]]
    /// The number of leading links of each operation whose awaited operations were removed. Removed operations never come
    /// back.
    private var passed: [Int]
    private var path: [ExecutionOrder.Link] = []
    /// The position on the path of each waiting operation.
    private var steps: [Int: Int] = [:]

    init(_ links: [[ExecutionOrder.Link]]) {
        self.links = links
        passed = Array(repeating: 0, count: links.count)
    }

    /// Returns a cycle of remaining operations that can be reached from `start`. `start` must be a remaining operation.
    mutating func cycle(from start: Int, isLeft: (Int) -> Bool) -> ExecutionOrder.Cycle {
        // Operations that were removed since the last search are at the end of the path. An operation that waits for a
        // remaining operation remains too.
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
