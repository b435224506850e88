import Testing

@testable import WorkflowEngine

struct ReferenceTests {
    @Test func `a misspelt operation is told with the nearest name`() {
        #expect(
            complaints(about: "operations: {compress: {run: x}, verify: {run: y, after: compres}}") == [
                "w:1:58: error: unknown operation 'compres'; did you mean 'compress'?"
            ])
    }

    @Test func `an operation cannot come after itself`() {
        #expect(
            complaints(about: "operations: {a: {run: x, after: a}, f: {run: x, each: [p], after: 'f[p]'}}") == [
                "w:1:33: error: 'a' cannot come after itself; take it out of 'after'",
                "w:1:67: error: 'f[p]' cannot come after itself; take it out of 'after'",
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
                "w:3:26: error: operations wait for each other: a → b → c → a; take one of them out of an 'after'"
            ])
    }

    @Test func `every cycle is told, those of families once`() {
        let text = """
            operations:
              a: {run: x, after: b}
              b: {run: x, after: a}
              p: {run: x, each: [i, j], after: "q[{item}]"}
              q: {run: x, each: [i, j], after: "p[{item}]"}
            """
        #expect(
            complaints(about: text) == [
                "w:2:22: error: operations wait for each other: a → b → a; take one of them out of an 'after'",
                "w:4:36: error: operations wait for each other: p[i] → q[i] → p[i]; take one of them out of an 'after'",
            ])
    }

    @Test func `a barrier cannot wait for what is queued behind it`() {
        let text = """
            operations:
              pack: {run: x, barrier: true, after: late}
              late: {run: x}
            """
        #expect(
            complaints(about: text) == [
                "w:2:40: error: operations wait for each other: pack → late → pack; "
                    + "'late' is queued behind the barrier 'pack': move it up or to another queue"
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

    @Test func `barriers of two queues cannot wait for what the other holds back`() {
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
                    + "'d' is queued behind the barrier 'c': move it up or to another queue"
            ])
    }

    @Test func `a family is waited for as a whole or by its items`() throws {
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

    @Test func `an unknown item is told with the nearest one`() {
        #expect(
            complaints(about: "operations: {f: {run: x, each: [one, two]}, g: {run: x, after: 'f[twoo]'}}") == [
                "w:1:64: error: 'f' has no item 'twoo'; did you mean 'f[two]'?"
            ])
    }

    @Test func `two operations cannot have one name`() {
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
}
