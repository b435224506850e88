import Testing

@testable import DashboardCore

@Suite struct GraphTests {
    private func graph(_ dependencies: [[Int]], name: (Int) -> String = { "n\($0)" }) -> Graph {
        Graph(
            nodes: dependencies.indices.map { .init(id: Int64($0), name: name($0), state: "waiting") },
            dependencies: dependencies)
    }

    @Test func `the longest chain is marked`() {
        // 0 → 1 → 3, 2 → 3, 4 alone.
        let folded = FoldedGraph(graph([[], [0], [], [1, 2], []]))
        #expect(folded.nodes.map(\.level) == [0, 1, 0, 2, 0])
        #expect(folded.nodes.map(\.isCritical) == [true, true, false, true, false])
        #expect(folded.edges.count == 3 && folded.criticalCount == 3)
    }

    @Test func `a cycle ends, and so does an edge to nothing`() {
        let folded = FoldedGraph(graph([[1], [0], [], [99]]))
        #expect(folded.nodes.count == 4 && folded.nodes[0].level > folded.nodes[2].level)
    }

    @Test func `similar operations of a level are one node`() {
        let pages = (1...500).map { _ in [0] }
        let folded = FoldedGraph(
            graph([[]] + pages + [Array(1...500)]) { $0 == 0 ? "login" : $0 == 501 ? "sum" : "page \($0)" })
        #expect(folded.nodes.map(\.name) == ["login", "page #", "sum"])
        #expect(folded.nodes.map(\.count) == [1, 500, 1] && folded.edges.count == 2)
        #expect(folded.nodes[1].id == nil && folded.nodes[0].id == 0)
    }

    @Test func `a graph of any shape has at most 200 nodes`() {
        let letters = Array("abcdefghijklmnopqrstuvwxyz")
        func word(_ number: Int) -> String {
            String([letters[number % 26], letters[number / 26 % 26], letters[number / 676 % 26]])
        }
        #expect(FoldedGraph(graph(Array(repeating: [], count: 5000), name: word)).nodes.count <= 200)
        let chain = (0..<100_000).map { $0 == 0 ? [] : [$0 - 1] }
        let folded = FoldedGraph(graph(chain, name: word))
        #expect(folded.nodes.count <= 200 && folded.criticalCount == 100_000)
    }
}

@Suite struct TimelineBarsTests {
    @Test func `bars of one lane do not overlap, and the latest remain`() {
        let bars = (0..<3000).map { number in
            TimelineBars.Bar(
                id: Int64(number), name: "", state: "done", start: Double(number), end: Double(number) + 2.5)
        }
        let timeline = TimelineBars(bars)
        #expect(timeline.laneCount == 3 && timeline.bars.count == 2000 && timeline.bars[0].id == 1000)
        for lane in 0..<3 {
            let own = timeline.bars.filter { $0.lane == lane }
            #expect(zip(own, own.dropFirst()).allSatisfy { $0.end <= $1.start })
        }
    }
}
