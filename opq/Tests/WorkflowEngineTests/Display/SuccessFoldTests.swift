import Testing

@testable import WorkflowEngine

struct SuccessFoldTests {
    @Test func `the successes of a family are one line, and failures and output have their own`() throws {
        let plan = try plan(of: "operations: {f: {each: [a, b, c, d], run: 'x {item}'}, single: {run: x}}")
        var fold = SuccessFold(of: plan)
        let start = ContinuousClock.now
        fold.started("f[a]", at: start)
        func end(_ name: String, _ outcome: Outcome = .succeeded, hasOutput: Bool = false) -> SuccessFold.Line {
            fold.ended(Conclusion(name: name, outcome: outcome), hasOutput: hasOutput, at: start + .seconds(2))
        }
        #expect(end("single") == .own)
        #expect(end("f[a]") == .none)
        #expect(end("f[b]", hasOutput: true) == .own)
        #expect(end("f[c]") == .none)
        #expect(
            end("f[d]", .failed(.exit(1)))
                == .familyEnds(name: "f", successes: 2, time: .seconds(2), showsOwn: true))
    }
}
