import Glibc
import Synchronization
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

/// Families whose items are files that other operations make.
@Suite(.timeLimit(.minutes(1)))
struct LateFamilyTests {
    private static let pipeline = """
        operations:
          split: {run: "mkdir -p parts && touch parts/a.csv parts/b.csv", outputs: ["parts/*.csv"]}
          clean: {each: "parts/*.csv", after: split, run: "cp {item} {item.stem}.clean", outputs: "{item.stem}.clean"}
          check: {each: "*.clean", after: "clean[{item}]", run: "echo {item} >> checked"}
          join: {after: [clean, check], run: "ls *.clean > all"}
        """

    @Test func `the items are those files that exist when the operations before the family have ended`() async throws {
        let directory = try TemporaryDirectory(files: ["parts/old.csv", "old.clean"])
        let outcomes = try await outcomes(of: Self.pipeline, in: directory)
        #expect(
            outcomes.keys.sorted() == [
                "check[a.clean]", "check[b.clean]", "check[old.clean]", "clean[parts/a.csv]", "clean[parts/b.csv]",
                "clean[parts/old.csv]", "join", "split",
            ])
        #expect(outcomes.values.allSatisfy { $0 == .succeeded })
        #expect(try directory.text(of: "all") == "a.clean\nb.clean\nold.clean\n")
    }

    @Test func `a family without items is a failure, unless it may have none`() async throws {
        let text = """
            operations:
              split: {run: "mkdir parts", outputs: [parts]}
              clean: {each: "parts/*.csv", after: split, run: "true"}
              after: {after: clean, run: "true"}
              may: {each: "parts/*.csv", after: split, run: "true", optional: true}
              end: {after: may, run: "true"}
            """
        let directory = try TemporaryDirectory()
        #expect(
            try await outcomes(of: text, in: directory) == [
                "split": .succeeded,
                "clean": .failed(
                    .noItems("'parts/*.csv' matches nothing in \(directory.path); add optional: true to permit that")),
                "after": .skipped("dependency clean failed"), "end": .succeeded,
            ])
    }

    @Test func `the failure of a member is the failure of the family`() async throws {
        let text = """
            operations:
              list: {run: "printf 'x\\ny\\n' > names", outputs: [names]}
              each: {each: {lines: names}, after: list, run: "test {item} = x", queue: one}
              after: {after: each, run: "true"}
              always: {after: each, run: "true", when: always, queue: one}
            queues: {one: {concurrency: 1}}
            """
        #expect(
            try await outcomes(of: text, in: TemporaryDirectory()) == [
                "list": .succeeded, "each[x]": .succeeded, "each[y]": .failed(.exit(1)),
                "after": .skipped("dependency each failed"), "always": .succeeded,
            ])
    }

    @Test func `a member has the captured outputs and policies of its family, and a family captures its members`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let text = """
            operations:
              list: {run: "printf 'x\\ny\\n' > names; echo one", outputs: [names], capture: A}
              each: {each: {lines: names}, after: list, run: 'echo "$A-"{item}', capture: B, rate: 100/1s, exclusive: e}
              after: {after: each, run: 'printf %s "$B" > b'}
            """
        _ = try await outcomes(of: text, in: directory)
        #expect(try directory.text(of: "b") == "one-x\none-y")
    }

    @Test func `a cancellation ends the members`() async throws {
        let text = """
            operations:
              list: {run: "printf 'x\\ny\\n' > names", outputs: [names]}
              each: {each: {lines: names}, after: list, run: "echo > gate; exec sleep 1000", queue: one}
              after: {after: each, run: "true"}
            queues: {one: {concurrency: 1}}
            """
        let outcomes = try await outcomes(of: text, in: TemporaryDirectory(), whenGateOpens: { $0.cancel() })
        #expect(
            outcomes == ["list": .succeeded, "each[x]": .cancelled, "each[y]": .cancelled, "after": .cancelled])
    }

    @Test func `the events name the members when they are known, and the end of the family`() async throws {
        let events = Journal<String>()
        _ = try await outcomes(of: Self.pipeline, in: TemporaryDirectory()) { event in
            switch event {
            case .expanded(let family, let members): events.append("\(family.name) \(members.map(\.name))")
            case .familyEnded(let family): events.append(family.name)
            default: break
            }
            return true
        }
        #expect(
            events.entries == [
                "clean [\"clean[parts/a.csv]\", \"clean[parts/b.csv]\"]", "clean",
                "check [\"check[a.clean]\", \"check[b.clean]\"]", "check",
            ])
    }

    @Test(arguments: [
        ("outputs: [\"d/*.c\"]", "\"d/*.c\"", true), ("outputs: [d]", "\"d/*.c\"", true),
        ("outputs: [d/x.c]", "\"d/*.c\"", true), ("outputs: [d/x.o]", "\"d/*.c\"", false),
        ("outputs: [\"d/a-*\"]", "\"d/*.c\"", true), ("outputs: [\"d/*.o\"]", "\"d/*.c\"", false),
        ("outputs: [e]", "\"**/*.c\"", true), ("outputs: [\"d/../e/x\"]", "\"./e/*\"", true),
        ("outputs: [x]", "{lines: x}", true), ("outputs: [y]", "{lines: x}", false),
        ("outputs: [x]", "{command: cat x}", false), ("outputs: [x]", "[x, y]", false),
        ("outputs: [\"[d]/x.c\"]", "\"d/*.c\"", true),
    ])
    func `a family waits for its items if an operation before it may make them`(
        outputs: String, each: String, isLate: Bool
    ) throws {
        let text = """
            operations:
              make: {run: x, \(outputs)}
              use: {run: "y {item}", each: \(each), after: between, optional: true}
              between: {run: z, after: make}
            """
        var sources = ItemSources()
        sources.matches = { _, _ in Glob.Findings() }
        sources.lines = { _, _ in .success(["l"]) }
        sources.output = { _, _ in .success(["l"]) }
        let file = WorkflowFile(text, base: ".", sources: sources)
        #expect(file.diagnostics == [])
        #expect(try #require(file.plan).growsDuringRun == isLate)
    }

    @Test func `outputs of a family count by its items, and a late family may make any`() throws {
        let text = """
            operations:
              first: {run: "x {item}", each: "*.in", outputs: ["{item.stem}.mid"]}
              second: {run: "y {item}", each: "*.mid", after: first, outputs: ["{item.stem}.out"]}
              third: {run: "z {item}", each: "*.out", after: second}
              other: {run: "z {item}", each: "*.txt", after: third}
            """
        let plan = try plan(of: text, files: ["*.in": ["a.in"], "*.txt": ["t.txt"]])
        #expect(plan.operations.filter { $0.growth != nil }.map(\.name) == ["second", "third"])
    }

    @Test func `a family that does not wait for the operation that makes its items is an error`() {
        let text = """
            operations:
              make: {run: x, outputs: ["d/*.c"]}
              use: {run: "y {item}", each: "d/*.c", optional: true}
              before: {run: "y {item}", each: "d/*.c", optional: true}
              again: {run: x, after: before, outputs: [d/b.c]}
              wide: {run: "y {item}", each: "d/*.c", after: [make, again], barrier: true}
            """
        #expect(
            complaints(about: text).sorted() == [
                "w:3:32: error: 'use' takes its items from 'd/*.c', which 'make' makes, and does not wait for it; "
                    + "add after: make",
                "w:4:35: error: 'before' takes its items from 'd/*.c', which 'make' makes, and does not wait for it; "
                    + "add after: make",
                "w:6:3: error: 'wide' is a barrier, and its items are found during the run; leave 'barrier' out",
            ])
    }

    @Test func `a captured output of one item is not known before the run`() {
        let text = """
            operations:
              make: {run: x, outputs: ["d/*.c"]}
              size: {run: "y {item}", each: "d/*.c", after: make, capture: SIZE}
              use: {run: z, after: "size[d/a.c]"}
            """
        #expect(
            complaints(about: text) == [
                "w:4:24: error: the items of 'size' are found during the run, so 'SIZE' has the outputs of all; "
                    + "write after: size"
            ])
    }

    @Test func `a name with an item chooses the whole late family`() throws {
        let plan = try plan(of: Self.pipeline)
        var selection = Selection()
        selection.targets = ["clean[parts/a.csv]"]
        #expect(try plan.selecting(selection).operations.map(\.name) == ["split", "clean"])
    }
}
