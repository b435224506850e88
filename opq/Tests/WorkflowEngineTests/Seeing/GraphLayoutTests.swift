import Testing

@testable import WorkflowEngine

struct GraphLayoutTests {
    private func edges(_ pairs: [(Int, Int)]) -> [WorkflowGraph.Edge] {
        pairs.map { WorkflowGraph.Edge(from: $0.0, to: $0.1) }
    }

    @Test func `a node is behind all that it waits for, and a long edge bends in each layer between`() {
        let layout = GraphLayout(nodeCount: 4, edges: edges([(0, 1), (1, 2), (2, 3), (0, 3)]))
        #expect(layout.places.prefix(4).map(\.layer) == [0, 1, 2, 3])
        #expect(layout.routes.map(\.count) == [2, 2, 2, 4])
        #expect(layout.routes[3].map { layout.places[$0].layer } == [0, 1, 2, 3])
    }

    @Test func `no two places of a layer overlap, and a tree has no crossing`() {
        var generator = SystemRandomNumberGenerator()
        let seed = UInt64.random(in: 0...UInt64.max, using: &generator)
        var state = seed
        func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % limit
        }
        for _ in 0..<50 {
            let pairs = (1..<40).flatMap { node in (0..<2).map { _ in (next(node), node) } }
            let layout = GraphLayout(nodeCount: 40, edges: Array(Set(edges(pairs))))
            for layer in layout.layers {
                for (upper, lower) in zip(layer, layer.dropFirst()) {
                    let gap = layout.places[lower].y - layout.places[upper].y
                    #expect(gap > layout.places[upper].height - 0.01, "seed \(seed)")
                }
            }
        }
        let tree = GraphLayout(nodeCount: 7, edges: edges([(0, 5), (0, 6), (1, 3), (1, 4), (2, 0), (2, 1)]))
        let last = tree.layers[2]
        #expect(abs(last.firstIndex(of: 5)! - last.firstIndex(of: 6)!) == 1)
    }

    @Test func `a cycle of folded families ends, and a long chain needs no deep stack`() {
        let cycle = GraphLayout(nodeCount: 2, edges: edges([(0, 1), (1, 0)]))
        #expect(cycle.places.map(\.layer) == [0, 1])
        #expect(cycle.routes == [[0, 1], [1, 0]])
        let chain = GraphLayout(nodeCount: 20_000, edges: edges((0..<19_999).map { ($0, $0 + 1) }))
        #expect(chain.layers.count == 20_000)
        #expect(GraphLayout(nodeCount: 0, edges: []).layers.isEmpty)
    }
}
