import Glibc
import SystemPackage
import Testing

@testable import WorkflowEngine

struct PlainValueTests {
    @Test(arguments: [
        ("echo {item}>log", "1", "echo \"${OPQ_ITEM}\">log"), ("echo {item}", "a.c", "echo a.c"),
        ("ls ~{item}", "a.c", "ls ~\"${OPQ_ITEM}\""), ("ls {item}", "do", "ls \"${OPQ_ITEM}\""),
    ])
    func `a value stands in a command itself only where it means nothing else`(
        text: String, item: String, command: String
    ) {
        #expect(CommandTemplate(Template(text)).command(for: Item(path: item)) == command)
    }

    @Test func `parentheses within arithmetic are arithmetic`() {
        #expect(CommandTemplate(Template("(( ({item}) ))")).misplaced.map(\.obstacle) == [.arithmetic])
    }

    @Test func `the output of a command comes behind all earlier output, also when the command opens a path`() throws {
        let text = try ShellRun().output(
            of: "echo first; echo x > /dev/stdout; echo last", Item(path: "a"), by: "/bin/sh")
        #expect(text == "x\nlast\n")
    }

    @Test func `the tail of an output has the bytes that the caller wants`() throws {
        let spool = try SpoolDirectory().makeSpool()
        try spool.file.writeAll("abcdef".utf8)
        #expect(try spool.tail(byteCount: 3) == Array("def".utf8))
        #expect(try spool.tail(byteCount: 9) == Array("abcdef".utf8))
    }
}
