import Testing

@testable import WorkflowEngine

struct ReferenceTests {
    @Test func `the error of a misspelled operation suggests the nearest name`() {
        #expect(
            complaints(about: "operations: {compress: {run: x}, verify: {run: y, after: compres}}") == [
                "w:1:58: error: unknown operation 'compres'; did you mean 'compress'?"
            ])
    }

    @Test func `an operation cannot come after itself`() {
        #expect(
            complaints(about: "operations: {a: {run: x, after: a}, f: {run: x, each: [p], after: 'f[p]'}}") == [
                "w:1:33: error: 'a' cannot come after itself; remove it from 'after'",
                "w:1:67: error: 'f[p]' cannot come after itself; remove it from 'after'",
            ])
    }

    @Test func `a cycle is printed as its path`() {
        let text = """
            operations:
              first: {run: x, after: c}
              a: {run: x, after: [z, b]}
              z: {run: x}
              b: {run: x, after: c}
              c: {run: x, after: a}
            """
        #expect(
            complaints(about: text) == [
                "w:3:26: error: operations wait for each other: a → b → c → a; remove one of them from an 'after'"
            ])
    }

    @Test func `every cycle is reported, and cycles of families once`() {
        let text = """
            operations:
              a: {run: x, after: b}
              b: {run: x, after: a}
              p: {run: x, each: [i, j], after: "q[{item}]"}
              q: {run: x, each: [i, j], after: "p[{item}]"}
            """
        #expect(
            complaints(about: text) == [
                "w:2:22: error: operations wait for each other: a → b → a; remove one of them from an 'after'",
                "w:4:36: error: operations wait for each other: p[i] → q[i] → p[i]; remove one of them from an 'after'",
            ])
    }

    @Test func `a barrier cannot wait for operations queued after it`() {
        let text = """
            operations:
              pack: {run: x, barrier: true, after: late}
              late: {run: x}
            """
        #expect(
            complaints(about: text) == [
                "w:2:40: error: operations wait for each other: pack → late → pack; "
                    + "'late' is queued after the barrier 'pack': move it up or to another queue"
            ])
    }

    @Test func `an operation cannot wait for a barrier that waits for it`() {
        let text = """
            operations:
              early: {run: x, after: pack}
              pack: {run: x, barrier: true}
            """
        #expect(
            complaints(about: text) == [
                "w:2:26: error: operations wait for each other: early → pack → early; "
                    + "the barrier 'pack' waits for 'early', queued before it: move that down"
            ])
    }

    @Test func `barriers of two queues cannot wait for operations behind each other`() {
        let text = """
            queues: {p: , q: }
            operations:
              b: {run: x, queue: p, barrier: true, after: d}
              c: {run: x, queue: q, barrier: true, after: e}
              d: {run: x, queue: q}
              e: {run: x, queue: p}
            """
        #expect(
            complaints(about: text) == [
                "w:3:47: error: operations wait for each other: b → d → c → e → b; "
                    + "'d' is queued after the barrier 'c': move it up or to another queue"
            ])
    }

    @Test func `an operation can come after a whole family or after its items`() throws {
        let text = """
            operations:
              f: {run: x, each: [p, q]}
              all: {run: x, after: [f, "f[p]"]}
              one: {run: x, after: "f[q]"}
              g: {run: x, each: [q, p], after: "f[{item}]"}
            """
        let plan = try plan(of: text)
        #expect(plan.operations.map(\.name) == ["f[p]", "f[q]", "all", "one", "g[q]", "g[p]"])
        #expect(plan.operations.map(\.dependencies) == [[], [], [0, 1], [1], [1], [0]])
    }

    @Test func `an operation after a family depends on each member once`() throws {
        let text = """
            operations:
              f: {run: x, each: [p, q]}
              g: {run: x, each: [r, s], after: ["f[q]", f, f]}
            """
        let plan = try plan(of: text)
        #expect(plan.operations.map(\.dependencies) == [[], [], [1, 0], [1, 0]])
        #expect(plan.operations[3].awaited == [1..<2, 0..<2, 0..<2])
    }

    @Test func `a cycle through whole families names members only`() {
        let text = """
            operations:
              first: {run: x, after: q}
              p: {run: x, each: [i, j], after: q}
              q: {run: x, each: [i, j], after: p}
            """
        #expect(
            complaints(about: text) == [
                "w:3:36: error: operations wait for each other: p[i] → q[i] → p[i]; remove one of them from an 'after'"
            ])
    }

    @Test func `a possible order is that of the file after a member and after its family`() throws {
        let text = """
            operations:
              f: {run: x, each: [p, q]}
              all: {run: x, after: f}
              one: {run: x, after: "f[q]"}
              both: {run: x, after: ["f[p]", f]}
            """
        #expect(try plan(of: text).possibleOrder == [0, 1, 2, 3, 4])
    }

    @Test func `the error of an unknown item suggests the nearest one`() {
        #expect(
            complaints(about: "operations: {f: {run: x, each: [one, two]}, g: {run: x, after: 'f[twoo]'}}") == [
                "w:1:64: error: 'f' has no item 'twoo'; did you mean 'f[two]'?"
            ])
    }

    @Test func `two operations cannot have the same name`() {
        #expect(
            complaints(about: "operations: {f: {run: x, each: [p]}, 'f[p]': {run: x}}") == [
                "w:1:38: error: 'f' and 'f[p]' both make an operation 'f[p]'; rename one of them"
            ])
    }

    @Test func `a possible order obeys dependencies and barriers`() throws {
        let text = """
            operations:
              a: {run: x, after: c}
              b: {run: x}
              c: {run: x}
              bar: {run: x, barrier: true}
              d: {run: x}
            """
        #expect(try plan(of: text).possibleOrder == [1, 2, 0, 3, 4])
        #expect(try plan(of: text).operations.map(\.barrierAhead) == [nil, nil, nil, nil, 3])
    }

    @Test func `the error of a long cycle shows its start and its end`() {
        let operations = (0..<1000).map { "  o\($0): {run: x, after: o\(($0 + 1) % 1000)}\n" }.joined()
        #expect(
            complaints(about: "operations:\n" + operations) == [
                "w:2:23: error: operations wait for each other: o0 → o1 → o2 → o3 → o4 → o5 → (992 more) → o998 → o999 → o0; "
                    + "remove one of them from an 'after'"
            ])
    }

    @Test func `many cycles after a long chain are found in one walk`() {
        // Each cycle is reached only through the whole chain. A search from the start for each cycle would follow the chain
        // 3000 times.
        let chain = (0..<3000).map { "  p\($0): {run: x, after: p\($0 + 1)}\n" }.joined()
        let all = (0..<3000).map { "c\($0)" }.joined(separator: ", ")
        let cycles = (0..<3000).map { "  c\($0): {run: x, after: d\($0)}\n  d\($0): {run: x, after: c\($0)}\n" }
            .joined()
        let text = "operations:\n\(chain)  p3000: {run: x, after: [\(all)]}\n\(cycles)"
        #expect(complaints(about: text).count == 3000)
    }

    @Test func `suggestions stop when the suggester has no steps left`() {
        let candidates = Suggester.Candidates(["compress", "verify", "list"])
        var suggester = Suggester(steps: 1000)
        #expect(suggester.suggestion(for: "compres", among: candidates) == "did you mean 'compress'?")
        #expect(suggester.suggestion(for: "xyzzyxyzzy", among: candidates) == "expected one of compress, verify, list")
        #expect(suggester.suggestion(for: "Verfiy", among: candidates) == "did you mean 'verify'?")
        let many = Suggester.Candidates((0..<1000).map { "operation\($0)" })
        #expect(suggester.suggestion(for: "operatoin0", among: many) == nil)
        #expect(suggester.steps <= 0)
    }

    @Test func `thousands of errors are all reported, the first with a suggestion`() {
        let operations = (0..<4000).map { "  operation\($0): {run: x, after: qperatoin\($0)}\n" }.joined()
        let complaints = complaints(about: "operations:\n" + operations)
        #expect(complaints.count == 4000)
        #expect(complaints.first?.hasSuffix("did you mean 'operation0'?") == true)
    }

    @Test(arguments: [("{itm}", "item"), ("{items}", "item"), ("{Item}", "item"), ("{item_name}", "item.name")])
    func `a misspelled placeholder is reported`(written: String, meant: String) {
        #expect(
            complaints(
                about: "operations: {f: {run: 'x \(written) ${itm} {time} {other}', each: [a]}, g: {run: '\(written)'}}"
            ) == [
                "w:1:23: error: unknown placeholder '\(written)'; did you mean '\(meant)'?"
            ])
    }
}
