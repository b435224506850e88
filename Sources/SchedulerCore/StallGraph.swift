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
            canGoOn[index] || (nodes[index].standing == .waits && open[index] == 0)
        }
        for index in moving { canGoOn[index] = true }
        while let index = moving.popLast() {
            for waiter in waiters[index] {
                open[waiter] -= 1
                guard open[waiter] == 0, !canGoOn[waiter], nodes[waiter].standing == .waits else { continue }
                canGoOn[waiter] = true
                moving.append(waiter)
            }
        }
        self.canGoOn = canGoOn
    }

    /// A cycle that can be reached from `start` along what can not go on, as the path `a, b, …, a`; nil when there is
    /// none. O(nodes + edges).
    public func cycle(from start: Int) -> [Int]? {
        var path: [(node: Int, edge: Int)] = [(start, 0)]
        var place: [Int: Int] = [start: 0]
        var isDone = Set<Int>()
        while let (node, edge) = path.last {
            guard edge < nodes[node].waitsFor.count else {
                path.removeLast()
                place[node] = nil
                isDone.insert(node)
                continue
            }
            path[path.count - 1].edge += 1
            let next = nodes[node].waitsFor[edge]
            if let first = place[next] { return path[first...].map(\.node) + [next] }
            guard !canGoOn[next], !isDone.contains(next) else { continue }
            place[next] = path.count
            path.append((next, 0))
        }
        return nil
    }
}
