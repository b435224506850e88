import COneTBB

/// The task group and the flow graph of oneTBB, through C.
enum OneTBB {
    static var isThere: Bool { onetbb_is_there() }

    static func addOneByOne(_ count: Int) -> Double {
        Tally.nanoseconds(perOperationOf: count) { tally in run(count, of: tally.block) }
    }

    static func run(_ count: Int, of block: @escaping @Sendable () -> Void) {
        let work = Work(block)
        onetbb_run(count, Work.call, work.pointer)
        withExtendedLifetime(work) {}
    }

    /// Makes a graph of `count` nodes with `build`, then runs it. The time excludes the release.
    static func graph(_ count: Int, _ build: (FlowGraph) -> Void) -> Sample {
        var leftover: FlowGraph?
        let figure = Tally.nanoseconds(perOperationOf: count) { tally in
            let graph = FlowGraph(tally.block)
            build(graph)
            graph.run()
            leftover = graph
        }
        return Sample(figure: figure, leftovers: leftover)
    }
}

/// A graph whose nodes all call the same block. The nodes are numbered in the order of adding.
final class FlowGraph {
    private let work: Work
    private let graph: OpaquePointer

    init(_ block: @escaping @Sendable () -> Void) {
        work = Work(block)
        graph = onetbb_graph_make(Work.call, work.pointer)
    }

    deinit { onetbb_graph_destroy(graph) }

    func addNode(_ priority: Priority? = nil) { onetbb_graph_add_node(graph, priority?.forOneTBB ?? 0) }

    func addEdge(from: Int, to: Int) { onetbb_graph_add_edge(graph, from, to) }

    func run() { onetbb_graph_run(graph) }
}

extension Priority {
    /// The lowest priority of oneTBB is 1.
    fileprivate var forOneTBB: UInt32 { UInt32(rawValue / 4 + 3) }
}

/// A block that C code can call.
private final class Work: Sendable {
    let block: @Sendable () -> Void

    init(_ block: @escaping @Sendable () -> Void) { self.block = block }

    /// A pointer that is valid as long as the object.
    var pointer: UnsafeRawPointer { UnsafeRawPointer(Unmanaged.passUnretained(self).toOpaque()) }

    static let call: @convention(c) (UnsafeRawPointer) -> Void = {
        Unmanaged<Work>.fromOpaque($0).takeUnretainedValue().block()
    }
}
