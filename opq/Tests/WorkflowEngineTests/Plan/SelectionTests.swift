import Testing

@testable import WorkflowEngine

struct SelectionTests {
    private static let text = """
        operations:
          prepare: {run: x}
          compile: {run: "x {item}", each: [a, b, c], after: prepare}
          link: {run: x, after: compile}
          docs: {run: x, after: prepare}
          test: {run: x, after: [link, "compile[b]"]}
          report: {run: x, after: [test, docs]}
        """

    private func names(_ change: (inout Selection) -> Void) throws -> [String] {
        var selection = Selection()
        change(&selection)
        return try plan(of: Self.text).selecting(selection).operations.map(\.name)
    }

    @Test func `a target runs with everything that it needs`() throws {
        #expect(try names { $0.targets = ["docs"] } == ["prepare", "docs"])
        #expect(try names { $0.targets = ["compile[b]"] } == ["prepare", "compile[b]"])
        #expect(
            try names { $0.targets = ["link", "docs"] } == [
                "prepare", "compile[a]", "compile[b]", "compile[c]", "link", "docs",
            ])
        #expect(try names { $0.until = ["docs"] } == ["prepare", "docs"])
    }

    @Test func `only runs the named operations, which wait for nothing else`() throws {
        #expect(try names { $0.only = ["compile", "test"] } == ["compile[a]", "compile[b]", "compile[c]", "test"])
        var selection = Selection()
        selection.only = ["compile[b]", "test", "report"]
        let plan = try plan(of: Self.text).selecting(selection)
        #expect(plan.operations.map(\.dependencies) == [[], [0], [1]])
        #expect(plan.possibleOrder == [0, 1, 2])
        #expect(plan.describedCount == 3)
    }

    @Test func `from runs everything that comes after, and until bounds it`() throws {
        #expect(try names { $0.from = ["link"] } == ["link", "test", "report"])
        #expect(try names { $0.from = ["compile[b]"] } == ["compile[b]", "link", "test", "report"])
        #expect(
            try names {
                $0.from = ["compile"]
                $0.until = ["link"]
            } == ["compile[a]", "compile[b]", "compile[c]", "link"])
    }

    @Test func `an empty selection runs everything`() throws {
        #expect(try plan(of: Self.text).selecting(Selection()) == plan(of: Self.text))
    }

    @Test(arguments: [
        ("lnik", "unknown operation 'lnik'; did you mean 'link'?"), ("", "the name of an operation is empty"),
        ("compile[d]", "unknown operation 'compile[d]'; did you mean 'compile[a]'?"),
    ])
    func `an unknown name is an error`(name: String, text: String) throws {
        let plan = try plan(of: Self.text)
        var selection = Selection()
        selection.targets = [name]
        #expect(throws: SelectionFailure(text: text)) { try plan.selecting(selection) }
    }

    @Test func `operations that are not both after and before exclude each other`() throws {
        let plan = try plan(of: Self.text)
        var selection = Selection()
        selection.from = ["docs"]
        selection.until = ["link"]
        #expect(throws: SelectionFailure.self) { try plan.selecting(selection) }
    }

    @Test func `a barrier that is not selected holds nothing back`() throws {
        let text =
            "operations: {a: {run: x}, b: {run: x, barrier: true}, c: {run: x}, d: {run: x, barrier: true}, e: {run: x}}"
        var selection = Selection()
        selection.only = ["a", "d", "e"]
        #expect(try plan(of: text).selecting(selection).operations.map(\.barrierAhead) == [nil, nil, 1])
    }

    @Test func `the list has each operation and family once`() throws {
        #expect(
            try plan(of: Self.text).listing == [
                "prepare      x", "compile (3)  x \"$OPQ_ITEM\"", "link         x", "docs         x", "test         x",
                "report       x",
            ])
    }
}
