import Foundation
import Testing

@testable import WorkflowEngine

struct ItemTests {
    @Test(arguments: [
        ("src/app.tar.gz", "src", "app.tar.gz", "app.tar", "gz"), ("a", ".", "a", "a", ""),
        ("/a.c", "/", "a.c", "a", "c"),
        ("d/e/", "d", "e", "e", ""), ("/d/.x", "/d", ".x", ".x", ""), ("a.", ".", "a.", "a", ""),
    ])
    func `an item has a folder, a name, a stem and an extension`(
        path: String, directory: String, name: String, stem: String, ext: String
    ) {
        let item = Item(path: path)
        #expect(item.directory == directory)
        #expect(item.name == name)
        #expect(item.stem == stem)
        #expect(item.fileExtension == ext)
        #expect(item.variables["OPQ_ITEM_EXT"] == ext)
        #expect(item.variables["OPQ_ITEM_DIR"] == directory)
    }

    @Test func `items come from the lines of a file and of a command, and a list may mix them`() throws {
        let directory = try TemporaryDirectory(files: ["a.c", "b.c"])
        try "one\r\n\ntwo words\n".write(toFile: directory.path + "/list", atomically: true, encoding: .utf8)
        let text = """
            operations:
              f: {run: "x {item}", each: [{lines: list}, {command: "ls *.c; echo '$HOME'"}, {files: b.c}, z]}
            """
        let file = WorkflowFile(text, base: directory.path)
        #expect(file.plan?.operations.map { $0.item?.path } == ["one", "two words", "a.c", "b.c", "$HOME", "z"])
        #expect(
            file.diagnostics.map { $0.line(in: "w") } == [
                "w:2:30: warning: 'b.c' occurs more than once, and each item counts once"
            ])
    }

    @Test func `a source that cannot be read is reported`() throws {
        let directory = try TemporaryDirectory()
        let text =
            "operations: {f: {run: x, each: [{lines: none}, {command: 'exit 3'}, {command: 'true'}, {files: none}]}}"
        #expect(
            WorkflowFile(text, base: directory.path).diagnostics.map(\.message) == [
                "cannot read 'none': No such file or directory", "'exit 3' failed: exit 3", "'true' has no line",
                "'none' matches nothing in \(directory.path)",
            ])
    }

    @Test func `an optional family may have no items, and operations after it have nothing to wait for`() throws {
        let text = """
            operations:
              f: {run: "x {item}", each: ["*.csv", {command: "true"}], optional: true}
              g: {run: y, after: f}
            """
        let plan = try plan(of: text)
        #expect(plan.operations.map(\.name) == ["g"])
        #expect(plan.operations[0].dependencies == [])
    }

    @Test func `equal items count once, with a warning`() throws {
        let text = "operations: {f: {run: 'x {item}', each: [a, b, a, b, a]}}"
        #expect(try plan(of: text).operations.count == 2)
        #expect(
            complaints(about: text) == [
                "w:1:41: warning: 'a' and 1 other items occur more than once, and each item counts once"
            ])
    }
}
