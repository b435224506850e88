import Testing

@testable import WorkflowEngine

struct FamilyTests {
    @Test func `globs and strings create one operation per item`() throws {
        let plan = try plan(
            of: "operations: {f: {run: 'cat {item}', each: ['*.c', b.c, 7]}}", files: ["*.c": ["a.c", "b.c"]])
        #expect(plan.operations.map(\.name) == ["f[a.c]", "f[b.c]", "f[7]"])
        #expect(plan.operations.map(\.command) == Array(repeating: #"cat "$OPQ_ITEM""#, count: 3))
        #expect(plan.operations.map(\.variables["OPQ_ITEM"]) == ["a.c", "b.c", "7"])
        #expect(plan.census == "1 queue, 1 operation (3 after each:)")
    }

    @Test func `the item replaces placeholders in every string`() throws {
        let text = """
            queues: {high: }
            operations:
              one-high: {run: x}
              f:
                each: [d/high.txt]
                run: cat {item} {item.name} "{item.stem}" ${item:-}
                queue: "{item.stem}"
                after: "one-{item.stem}"
                priority: "{item.stem}"
                directory: d/{item.stem}
                environment: {FILE: "{item.name}"}
            """
        let operation = try #require(try plan(of: text, base: "w").operations.last)
        #expect(operation.command == #"cat "$OPQ_ITEM" "$OPQ_ITEM_NAME" "${OPQ_ITEM_STEM}" ${item:-}"#)
        #expect(operation.variables["OPQ_ITEM_STEM"] == "high")
        #expect(operation.variables["OPQ_ITEM_NAME"] == "high.txt")
        #expect(operation.queue == "high")
        #expect(operation.dependencies == [0])
        #expect(operation.priority == .high)
        #expect(operation.directory == "w/d/high")
        #expect(operation.environment == ["FILE": "high.txt"])
    }

    @Test func `a glob without matches is reported together with other errors`() {
        let text = """
            operations:
              f: {run: x, each: ['*.c', '*.h'], queue: q, after: 'a[{item}]'}
              g: {run: x, after: 'f[p]'}
            """
        #expect(
            complaints(about: text) == [
                "w:2:22: error: '*.c' matches nothing in .; add optional: true to permit that",
                "w:2:29: error: '*.h' matches nothing in .; add optional: true to permit that",
                "w:2:44: error: unknown queue 'q'; expected default",
            ])
    }

    @Test func `the error of an unknown placeholder suggests the nearest one`() {
        #expect(
            complaints(about: "operations: {f: {run: 'x {item.nam} {item.foo} {other}', each: [a]}}") == [
                "w:1:23: error: unknown placeholder '{item.nam}'; did you mean 'item.name'?",
                "w:1:23: error: unknown placeholder '{item.foo}'; expected one of item, item.name, item.stem, item.dir, item.ext",
            ])
    }

    @Test func `a placeholder needs each`() {
        #expect(
            complaints(about: "operations: {f: {run: 'x {item}'}}") == [
                "w:1:23: error: '{item}' in an operation without 'each'; add each: with a glob or a list"
            ])
    }

    @Test(arguments: [
        ("a/b.tar.gz", "b.tar.gz", "b.tar"), ("a", "a", "a"), ("d/.hidden", ".hidden", ".hidden"), ("d/", "d", "d"),
    ])
    func `an item has a name and a stem`(path: String, name: String, stem: String) {
        #expect(Item(path: path).name == name)
        #expect(Item(path: path).stem == stem)
    }
}
