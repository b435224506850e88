import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

/// Variables that get the standard output of operations.
@Suite(.timeLimit(.minutes(1)))
struct CaptureTests {
    @Test func `the operations after an operation have its standard output, without the line feeds at its end`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let text = """
            environment: {OTHER: 1}
            operations:
              version: {run: "printf ' 1\\n2\\n\\n'; echo noise >&2", capture: VERSION}
              shell: {run: "test \\"$VERSION\\" = ' 1\\n2'", after: version, shell: bash}
              lines: {run: "printf %s \\"$VERSION\\" > lines", after: version}
              simple: {run: 'printenv VERSION', after: version}
              list: {run: [sh, -c, 'printf %s "$VERSION" > list'], after: version}
              before: {run: 'test -z "$VERSION"'}
            """
        let outcomes = try await outcomes(of: text, in: directory)
        #expect(outcomes.values.allSatisfy { $0 == .succeeded })
        #expect(try directory.text(of: "lines") == " 1\n2")
        #expect(try directory.text(of: "list") == " 1\n2")
    }

    @Test func `a family has one output for each item, and the operations after it have all in the order of the items`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              size: {each: [c, a, b], run: "test {item} != b && echo {item}1", capture: SIZE, mayFail: true}
              all: {run: 'printf %s "$SIZE" > all', after: size}
              one: {run: 'printf %s "$SIZE" > one', after: "size[a]"}
              own: {each: [c, a], run: 'printf %s "$SIZE" > {item}', after: "size[{item}]"}
              none: {run: 'printf %s "${SIZE-unset}" > none', after: "size[b]", when: always}
            """
        _ = try await outcomes(of: text, in: directory)
        #expect(
            try ["all", "one", "c", "a", "none"].map { try directory.text(of: $0) } == ["c1\na1", "a1", "c1", "a1", ""])
    }

    @Test func `an output that no variable can hold is a failure`() async throws {
        let text = """
            operations:
              long: {run: "head -c 65537 /dev/zero | tr '\\\\0' x", capture: A}
              fits: {run: "head -c 65536 /dev/zero | tr '\\\\0' x", capture: B}
              nul: {run: "printf 'a\\\\0b'", capture: C}
              bytes: {run: "printf '\\\\377'", capture: D}
              after: {run: 'printf %s "$D" | od -An -tx1 | grep -q ff', after: [bytes, fits]}
              never: {run: "true", after: long}
            """
        #expect(
            try await outcomes(of: text, in: TemporaryDirectory()) == [
                "long": .failed(.badCapture("the standard output has more than 64 KiB, which 'A' cannot hold")),
                "nul": .failed(.badCapture("the standard output has a NUL character, which 'C' cannot hold")),
                "fits": .succeeded, "bytes": .succeeded, "after": .succeeded,
                "never": .skipped("dependency long failed"),
            ])
    }

    @Test func `values that are too long together are a failure of the operation that would have them`() async throws {
        let text = """
            operations:
              long: {each: [1, 2, 3], run: "head -c 65536 /dev/zero | tr '\\\\0' x", capture: A}
              after: {run: "true", after: long}
            """
        guard case .failed(.unstartable(let reason))? = try await outcomes(of: text, in: TemporaryDirectory())["after"]
        else { return #expect(Bool(false)) }
        #expect(reason.hasPrefix("the captured variable 'A' has 196612 bytes, and the system takes 131071"))
    }

    @Test func `each run of a command is captured anew`() async throws {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              tries: {run: "echo part; test -e once || { touch once; exit 1; }; echo whole", capture: A, retries: 1}
              after: {run: 'printf %s "$A" > a', after: tries}
            """
        _ = try await outcomes(of: text, in: directory)
        #expect(try directory.text(of: "a") == "part\nwhole")
    }

    @Test func `a captured variable has one source and one name`() {
        let text = """
            vars: {v: 1}
            environment: {FILE: 1}
            operations:
              a: {run: x, capture: A}
              b: {run: x, capture: A}
              c: {run: x, after: [a, b]}
              d: {run: x, after: a, environment: {A: 1}}
              e: {run: x, capture: v}
              f: {run: x, capture: FILE}
              g: {run: "echo {A}", after: a}
              h: {run: x, after: a, directory: "{A}"}
              i: {run: x, capture: 1x}
              j: {run: x, capture: OPQ_A}
              k: {run: x, after: [a, a]}
            """
        #expect(
            complaints(about: text) == [
                "w:6:26: error: 'a' and 'b' both capture 'A', and 'c' comes after both; "
                    + "give the variables different names",
                "w:7:42: error: 'A' is captured from 'a'; use another name in environment:",
                "w:8:24: error: 'v' is a variable of the file; capture another one",
                "w:9:24: error: 'environment' of the file sets 'FILE' too; capture another one",
                "w:10:12: error: '{A}' is no placeholder, because its value is captured during the run; "
                    + "write \"$A\" in a command for a shell",
                "w:11:36: error: '{A}' is no placeholder, because its value is captured during the run; "
                    + "only a command has it, as \"$A\"",
                "w:12:24: error: '1x' cannot name a captured variable; "
                    + "use letters, digits and underscores, with no digit first",
                "w:13:24: error: 'OPQ_A' cannot name a captured variable; "
                    + "use letters, digits and underscores, with no digit first",
            ])
    }

    @Test func `a value without a record is asked for, and a recorded one counts`() throws {
        let plan = try plan(of: "operations: {a: {run: x, capture: A}, b: {run: y, after: a}}")
        var selection = Selection()
        selection.only = ["b"]
        let part = try plan.selecting(selection)
        let unknown = CapturedVariables(of: part) { _ in nil }
        #expect(throws: CaptureFailure(text: "no output of 'a' is recorded for the variable 'A'; run 'a' too")) {
            try unknown.filled(part.operations[0])
        }
        let known = CapturedVariables(of: part) { $0 == "a" ? "value" : nil }
        #expect(try known.filled(part.operations[0]).environment == ["A": "value"])
        // An operation of the plan that has no output counts as one without output, also if an old one is recorded.
        let whole = CapturedVariables(of: plan) { _ in "old" }
        #expect(try whole.filled(plan.operations[1]).environment == ["A": ""])
        whole.set("new", of: "a")
        #expect(try whole.filled(plan.operations[1]).environment == ["A": "new"])
    }

    @Test func `a record keeps the captured output, and a record without one is still read`() throws {
        let fingerprint = Fingerprint(command: Digest(1, 2), shell: Digest(3, 4), directory: "d", environment: [])
        var record = OperationRecord(name: "a", fingerprint: fingerprint, end: .succeeded)
        for value in [nil, "", "line\nline"] {
            record.captured = value
            var end = OperationEnd(name: "a", kind: .succeeded)
            end.record = record
            let entry = JournalEntry.operationEnded(end)
            #expect(entry.bytes.withUnsafeBytes { JournalEntry($0) } == entry)
        }
    }
}
