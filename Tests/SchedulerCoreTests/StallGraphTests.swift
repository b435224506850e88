import SchedulerCore
import TestSupport
import Testing

/// Rule N3: the nodes that can still proceed, and the cycles among the others.
@Suite struct StallGraphTests {
    private func graph(_ nodes: [(standing: StallGraph.Standing, waitsFor: [Int])]) -> StallGraph {
        StallGraph(nodes.map { StallGraph.Node(waitsFor: $0.waitsFor, standing: $0.standing) })
    }

    @Test func `an empty graph has no cycle`() {
        #expect(graph([]).canGoOn.isEmpty)
    }

    @Test func `a moving node can proceed, and a stuck node cannot`() {
        #expect(graph([(.moves, []), (.stuck, []), (.waits, [])]).canGoOn == [true, false, true])
    }

    @Test func `a waiting node can proceed when all nodes that it waits for can`() {
        let forward = graph([(.waits, [1]), (.waits, [2]), (.moves, [])])
        let backward = graph([(.moves, []), (.waits, [0]), (.waits, [1])])
        #expect(forward.canGoOn == [true, true, true])
        #expect(backward.canGoOn == [true, true, true])
    }

    @Test func `a stuck node blocks all nodes that wait for it, and no others`() {
        let graph = graph([(.stuck, []), (.waits, [0, 2]), (.moves, []), (.waits, [1]), (.waits, [2])])
        #expect(graph.canGoOn == [false, false, true, false, true])
        #expect(graph.cycles().paths.isEmpty && graph.cycles().reached == [nil, nil, nil, nil, nil])
    }

    @Test func `a stuck node stays stuck, regardless of its edges`() {
        #expect(graph([(.stuck, [1]), (.moves, [])]).canGoOn == [false, true])
    }

    @Test func `waiting for the same node twice counts as waiting for it`() {
        #expect(graph([(.waits, [1, 1]), (.moves, [])]).canGoOn == [true, true])
        #expect(graph([(.waits, [1, 1]), (.stuck, [])]).canGoOn == [false, false])
    }

    @Test func `a node that waits for itself is a cycle`() {
        let graph = graph([(.waits, [0])])
        #expect(graph.canGoOn == [false])
        #expect(graph.cycles().path(from: 0) == [0, 0])
    }

    @Test func `a cycle is found once, for all nodes that are part of it or lead into it`() {
        let graph = graph([(.waits, [1]), (.waits, [2]), (.waits, [0]), (.waits, [1]), (.waits, [3])])
        #expect(graph.canGoOn == [false, false, false, false, false])
        #expect(graph.cycles().paths == [[0, 1, 2, 0]])
        #expect(graph.cycles().reached == [0, 0, 0, 0, 0])
    }

    @Test func `a cycle is found behind dead ends and behind nodes that can proceed`() {
        let graph = graph([
            (.waits, [1, 2, 3, 4]), (.moves, []), (.stuck, []), (.waits, [2]), (.waits, [3, 5]), (.waits, [4]),
        ])
        #expect(graph.canGoOn == [false, true, false, false, false, false])
        #expect(graph.cycles().path(from: 0) == [4, 5, 4])
        #expect(graph.cycles().path(from: 3) == nil)
    }

    @Test func `a long chain causes no recursion`() {
        let count = Stress.rounds(300_000, least: 50_000)
        var nodes = (0..<count).map { (standing: StallGraph.Standing.waits, waitsFor: [$0 + 1]) }
        nodes.append((.moves, []))
        #expect(graph(nodes).canGoOn.allSatisfy { $0 })
        nodes[count] = (.waits, [0])
        let ring = graph(nodes)
        #expect(!ring.canGoOn.contains(true))
        #expect(ring.cycles().paths.map(\.count) == [count + 2])
    }

    /// Many paths through the same nodes: each edge is visited once.
    @Test func `a wide graph without a cycle is searched in linear time`() {
        var nodes: [(standing: StallGraph.Standing, waitsFor: [Int])] = [(.stuck, [])]
        for _ in 0..<200 {
            let before = max(0, nodes.count - 2)..<nodes.count
            nodes.append((.waits, Array(before)))
            nodes.append((.waits, Array(before)))
        }
        let graph = graph(nodes)
        #expect(graph.cycles().paths.isEmpty)
    }

    /// A stall report needs the cycles of all operations at once.
    @Test(arguments: [StallGraph.Standing.waits, .stuck]) func `each edge is followed once in any graph`(
        end: StallGraph.Standing
    ) {
        func steps(_ nodes: [(standing: StallGraph.Standing, waitsFor: [Int])]) -> Int {
            var steps = 0
            _ = graph(nodes).cycles { steps += 1 }
            return steps
        }
        for count in [1000, 2000, 4000] {
            let forward = (0..<count).map { (standing: StallGraph.Standing.waits, waitsFor: [$0 + 1]) }
            let last = (standing: end, waitsFor: end == .waits ? [count] : [])
            #expect(steps(forward + [last]) <= count + 1)
            let backward = (0..<count).map {
                (standing: StallGraph.Standing.waits, waitsFor: $0 == 0 ? [0] : [$0 - 1, 0])
            }
            #expect(steps(backward) <= 2 * count)
            let star = (0..<count).map { (standing: StallGraph.Standing.waits, waitsFor: [($0 + 1) % count, count]) }
            #expect(steps(star + [last]) <= 2 * count + 1)
        }
    }

    /// Against the definition, on graphs made at random.
    @Test(arguments: 1...200) func `the search agrees with the definition`(seed: Int) {
        var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        let count = 1 + random(12)
        let nodes = (0..<count).map { _ in
            (
                standing: [StallGraph.Standing.waits, .waits, .waits, .moves, .stuck][random(5)],
                waitsFor: (0..<random(4)).map { _ in random(count) }
            )
        }
        let graph = graph(nodes)
        var expected = nodes.map { $0.standing == .moves }
        for _ in 0..<count {
            for (i, node) in nodes.enumerated() where node.standing == .waits {
                expected[i] = node.waitsFor.allSatisfy { expected[$0] }
            }
        }
        #expect(graph.canGoOn == expected)
        let cycles = graph.cycles()
        for start in 0..<count where !expected[start] {
            let isOnWay = reachable(from: start, in: nodes, canGoOn: expected)
            let hasCycle = isOnWay.contains { node in
                nodes[node].waitsFor.contains {
                    !expected[$0] && reachable(from: $0, in: nodes, canGoOn: expected).contains(node)
                }
            }
            let cycle = cycles.path(from: start)
            #expect((cycle != nil) == hasCycle)
            guard let cycle else { continue }
            #expect(cycle.count > 1 && cycle.first == cycle.last && isOnWay.contains(cycle[0]))
            for (a, b) in zip(cycle, cycle.dropFirst()) { #expect(nodes[a].waitsFor.contains(b) && !expected[b]) }
            #expect(Set(cycle).count == cycle.count - 1)
        }
    }

    /// Returns the nodes that are reachable along stalled nodes, the start included.
    private func reachable(
        from start: Int, in nodes: [(standing: StallGraph.Standing, waitsFor: [Int])], canGoOn: [Bool]
    ) -> Set<Int> {
        var found: Set = [start]
        var open = [start]
        while let node = open.popLast() {
            for next in nodes[node].waitsFor where !canGoOn[next] && found.insert(next).inserted { open.append(next) }
        }
        return found
    }
}

extension StallGraph.Cycles {
    fileprivate func path(from node: Int) -> [Int]? { reached[node].map { paths[$0] } }
}
