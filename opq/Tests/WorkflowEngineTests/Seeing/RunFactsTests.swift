import Testing

@testable import WorkflowEngine

struct RunFactsTests {
    private func span(_ name: String, _ start: Int, _ end: Int, queue: String = "default") -> RunFacts.Span {
        RunFacts.Span(name: name, queue: queue, start: .seconds(start), end: .seconds(end))
    }

    private func link(_ name: String, waited: Int, ran: Int) -> RunFacts.Link {
        RunFacts.Link(name: name, waited: .seconds(waited), ran: .seconds(ran))
    }

    @Test func `the longest chain leads from the last end to the operations that ended last before it`() throws {
        let text = """
            operations:
              a: {run: x}
              b: {run: x, each: [1, 2], after: a}
              c: {run: x, after: b}
              d: {run: x}
              never: {run: x, after: d}
            """
        let plan = try plan(of: text)
        let facts = RunFacts(
            of: plan, plan.operations,
            [span("a", 1, 3), span("b[1]", 3, 9), span("b[2]", 4, 6), span("c", 10, 12), span("d", 0, 11)], jobs: 2)
        #expect(
            facts.chain == [
                link("a", waited: 1, ran: 2), link("b[1]", waited: 0, ran: 6), link("c", waited: 1, ran: 2),
            ])
    }

    @Test func `a late family is in the chain by its last member, and a barrier counts as a wait`() throws {
        let text = """
            operations:
              make: {run: x, outputs: ["*.c"]}
              use: {run: "y {item}", each: "*.c", after: make}
              end: {run: x, after: use, barrier: true}
              last: {run: x}
            """
        let plan = try plan(of: text)
        let members = ["m.c", "n.c"].map {
            PlannedOperation(name: "use[\($0)]", family: "use", command: "y", directory: ".", queue: "default")
        }
        let facts = RunFacts(
            of: plan, plan.operations.filter { $0.growth == nil } + members,
            [
                span("make", 0, 1), span("use[m.c]", 1, 5), span("use[n.c]", 1, 4), span("end", 5, 6),
                span("last", 6, 7),
            ],
            jobs: 4)
        #expect(facts.chain.map(\.name) == ["make", "use[m.c]", "end", "last"])
    }

    @Test func `the use of a queue is the part of its places in which commands ran`() throws {
        let text = """
            queues: {two: {concurrency: 2}, many: {concurrency: 100}, idle: {concurrency: 1}}
            operations:
              a: {run: x, queue: two, each: [1, 2, 3]}
              b: {run: x, queue: many}
              c: {run: x, queue: idle}
            """
        let plan = try plan(of: text)
        let facts = RunFacts(
            of: plan, plan.operations,
            [
                span("a[1]", 0, 4, queue: "two"), span("a[2]", 0, 2, queue: "two"), span("a[3]", 2, 4, queue: "two"),
                span("b", 0, 10, queue: "many"),
            ], jobs: nil)
        #expect(
            facts.queues == [
                RunFacts.Queue(name: "two", limit: 2, count: 3, most: 2, use: 1),
                RunFacts.Queue(name: "many", limit: 100, count: 1, most: 1, use: 1),
            ])
    }

    @Test func `a run without a command has no facts`() throws {
        let plan = try plan(of: "operations: {a: {run: x}}")
        let facts = RunFacts(of: plan, plan.operations, [RunFacts.Span](), jobs: nil)
        #expect(facts.chain.isEmpty && facts.queues.isEmpty)
    }
}
