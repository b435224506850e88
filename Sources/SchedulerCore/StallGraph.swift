/// A graph of the waiting relations across queues at one moment. It decides which nodes can still proceed without outside
/// help, and finds the cycles among the others. A plain value.
public struct StallGraph {
    public struct Node {
        /// The nodes that this node waits for, as positions in `nodes`.
        public var waitsFor: [Int]
        /// Whether the node moves, waits, or is stuck regardless of the nodes that it waits for.
        public var standing: Standing

        public init(waitsFor: [Int], standing: Standing) {
            self.waitsFor = waitsFor
            self.standing = standing
        }
    }

    public enum Standing: Sendable {
        /// The node runs or may start.
        case moves
        /// The node proceeds when all nodes that it waits for have.
        case waits
        /// The node proceeds when one of the nodes that it waits for has.
        case waitsForAny
        /// Only an action from outside lets the node proceed.
        case stuck
    }

    public let nodes: [Node]
    /// Whether each node moves now, or will move when other nodes have.
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

    /// The cycles that stalled nodes lead into.
    public struct Cycles {
        /// The cycles, each as the path `a, b, …, a`.
        public fileprivate(set) var paths: [[Int]] = []
        /// For each node the position in `paths` of a cycle that it is part of or leads into; nil when there is none.
        public fileprivate(set) var reached: [Int?]
    }

    /// Finds a cycle for each node that leads into one along stalled nodes. O(nodes + edges) in total.
    ///
    /// - Parameter step: Called for each visited edge, for tests that count the edges.
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
                // All nodes of the path lead into the same cycle, so none of them has to be visited again.
                guard let cycle = cycles.reached[next] else { continue }
                for (node, _) in path { (cycles.reached[node], isDone[node]) = (cycle, true) }
                path = []
            }
        }
        return cycles
    }
}
