/// What waits for what, across queues, at one moment: decides who can still go on by the system's own means, and finds
/// the cycles among the others. A plain value.
public struct StallGraph {
    public struct Node {
        /// What it waits for, as positions in `nodes`.
        public var waitsFor: [Int]
        /// It runs, or may start at once; or it can not go on whatever it waits for.
        public var standing: Standing

        public init(waitsFor: [Int], standing: Standing) {
            self.waitsFor = waitsFor
            self.standing = standing
        }
    }

    public enum Standing: Sendable {
        /// Runs or may start.
        case moves
        /// Goes on when everything it waits for has.
        case waits
        /// Goes on when one of the things that it waits for has.
        case waitsForAny
        /// Only somebody outside can make it go on.
        case stuck
    }

    public let nodes: [Node]
    /// Whether each node moves now, or will once others have.
    public let canGoOn: [Bool]

    public init(_ nodes: [Node]) {
        self.nodes = nodes
        var canGoOn = nodes.map { $0.standing == .moves }
        var open = nodes.map(\.waitsFor.count)
        var waiters = [[Int]](repeating: [], count: nodes.count)
        for (index, node) in nodes.enumerated() { for other in node.waitsFor { waiters[other].append(index) } }
        var moving = nodes.indices.filter { index in
            canGoOn[index] || (nodes[index].standing != .stuck && open[index] == 0)
        }
        for index in moving { canGoOn[index] = true }
        while let index = moving.popLast() {
            for waiter in waiters[index] {
                open[waiter] -= 1
                let mayGoOn =
                    nodes[waiter].standing == .waitsForAny || nodes[waiter].standing == .waits && open[waiter] == 0
                guard mayGoOn, !canGoOn[waiter] else { continue }
                canGoOn[waiter] = true
                moving.append(waiter)
            }
        }
        self.canGoOn = canGoOn
    }

    /// The cycles that nodes which can not go on lead into.
    public struct Cycles {
        /// Each as the path `a, b, …, a`.
        public fileprivate(set) var paths: [[Int]] = []
        /// For each node the position in `paths` of a cycle that it is part of or leads into; nil when there is none.
        public fileprivate(set) var reached: [Int?]
    }

    /// Finds a cycle for each node that leads into one along nodes that can not go on. O(nodes + edges) for all together.
    ///
    /// - Parameter step: Called for each edge looked at; for tests that count them.
    public func cycles(step: () -> Void = {}) -> Cycles {
        var cycles = Cycles(reached: Array(repeating: nil, count: nodes.count))
        // The place in the path of a node that is being visited.
        var place = [Int?](repeating: nil, count: nodes.count)
        var isDone = canGoOn
        for start in nodes.indices where !isDone[start] {
            var path: [(node: Int, edge: Int)] = [(start, 0)]
            place[start] = 0
            while let (node, edge) = path.last {
                guard edge < nodes[node].waitsFor.count else {
                    path.removeLast()
                    isDone[node] = true
                    continue
                }
                step()
                path[path.count - 1].edge += 1
                let next = nodes[node].waitsFor[edge]
                if !isDone[next], let first = place[next] {
                    cycles.paths.append(path[first...].map(\.node) + [next])
                    cycles.reached[next] = cycles.paths.count - 1
                } else if !isDone[next] {
                    place[next] = path.count
                    path.append((next, 0))
                    continue
                }
                // Everything on the path leads into the same cycle, so none of it has to be visited again.
                guard let cycle = cycles.reached[next] else { continue }
                for (node, _) in path { (cycles.reached[node], isDone[node]) = (cycle, true) }
                path = []
            }
        }
        return cycles
    }
}
