import Testing

@testable import WorkflowEngine

struct VariableTests {
    private static let text = """
        vars: {mode: debug, level: 3}
        environment: {CC: gcc, MODE: "{mode}"}
        operations:
          a: {run: "$CC -O{level} {mode}", directory: "out/{mode}", environment: {CC: clang}}
          b: {run: "true", after: "{target}"}
        """

    @Test func `a variable has its default value, and another one by --set`() throws {
        let text = Self.text.replacing(#", after: "{target}""#, with: "")
        let plan = try plan(of: text)
        #expect(plan.operations[0].directory == "./out/debug" || plan.operations[0].directory == "out/debug")
        #expect(plan.operations[0].command == #"$CC -O"$OPQ_LEVEL" "$OPQ_MODE""#)
        #expect(
            plan.operations[0].variables == ["CC": "clang", "MODE": "debug", "OPQ_MODE": "debug", "OPQ_LEVEL": "3"])
        #expect(plan.operations[1].variables == ["CC": "gcc", "MODE": "debug"])
        let other = try WorkflowEngineTests.plan(of: text, variables: ["mode": "$(touch PWNED)"])
        #expect(other.operations[0].command == plan.operations[0].command)
        #expect(other.operations[0].variables["OPQ_MODE"] == "$(touch PWNED)")
    }

    @Test func `a value for a variable that the file lacks is an error`() {
        let file = WorkflowFile("vars: {mode: a}\noperations: {a: {run: x}}", base: ".", variables: ["mod": "b"])
        #expect(
            file.diagnostics.map { $0.line(in: "w") } == [
                "w: error: the file declares no variable 'mod'; did you mean 'mode'?"
            ])
    }

    @Test func `a misspelled variable is reported`() {
        #expect(
            complaints(about: "vars: {mode: a}\noperations: {a: {run: 'x {mdoe} {other}'}}") == [
                "w:2:23: error: unknown placeholder '{mdoe}'; did you mean 'mode'?"
            ])
    }

    @Test func `keys that begin with x- are ignored, and merge keys add the keys that are missing`() throws {
        let text = """
            x-base: &base {queue: q, run: "true", x-note: 1}
            x-other: &other {run: "false", priority: high}
            queues: {q: , x-q: 1}
            operations:
              x-template: &t {barrier: true}
              a: {<<: *base, run: "echo own"}
              b: {<<: [*base, *other, *t]}
            """
        let plan = try plan(of: text)
        #expect(plan.operations.map(\.name) == ["a", "b"])
        #expect(plan.operations.map(\.command) == ["echo own", "true"])
        #expect(plan.operations.map(\.queue) == ["q", "q"])
        #expect(plan.operations[1].priority == .high)
        #expect(plan.operations[1].isBarrier)
        #expect(plan.queues.map(\.name) == ["q"])
    }

    @Test func `merging the maps of aliases of aliases ends`() {
        let levels = (1...40).map { "x-a\($0): &a\($0) {<<: [*a\($0 - 1), *a\($0 - 1)]}\n" }.joined()
        #expect(
            complaints(about: "x-a0: &a0 {run: x}\n\(levels)operations: {a: *a40}\n").last?.hasSuffix(
                "maps are merged too often; write the keys out") == true)
        #expect(
            complaints(about: "operations: {a: {run: x, <<: 5}}") == [
                "w:1:30: error: '<<' must be a map or a list of maps, found the number 5"
            ])
    }
}
