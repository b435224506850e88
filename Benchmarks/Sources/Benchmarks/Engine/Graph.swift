import Synchronization

/// The numbers of operations, and the dependencies between them.
struct Graph: Sendable {
    struct Edge: Hashable {
        let from: Int
        let to: Int
    }

    let priorities: [Priority]
    /// The edges. They are distinct, and each leads from an earlier operation to a later one.
    let edges: [Edge]

    /// A graph that is the same in every run, made at its first use.
    static func random(operations: Int, edges: Int) -> @Sendable () -> Graph {
        let made = Made()
        return {
            made.graph.withLock { graph in
                if let graph { return graph }
                let new = Graph(operations: operations, edges: edges)
                graph = new
                return new
            }
        }
    }

    private final class Made: Sendable {
        let graph = Mutex<Graph?>(nil)
    }

    private init(operations: Int, edges count: Int) {
        var random = SeededRandom(seed: 7)
        priorities = (0..<operations).map { _ in Priority.allCases.randomElement(using: &random)! }
        var known: Set<Edge> = []
        var edges: [Edge] = []
        while edges.count < count {
            let to = Int.random(in: 1..<operations, using: &random)
            let edge = Edge(from: Int.random(in: 0..<to, using: &random), to: to)
            if known.insert(edge).inserted { edges.append(edge) }
        }
        self.edges = edges
    }
}
