import Glibc
import SystemPackage
import Testing

@testable import WorkflowEngine

struct PlainValueTests {
    @Test func `parentheses within arithmetic are arithmetic`() {
        #expect(CommandTemplate(Template("(( ({item}) ))")).misplaced.map(\.obstacle) == [.arithmetic])
    }

    @Test func `output after a reopened path follows the output to the path`() throws {
        let text = try ShellRun().output(
            of: "echo first; echo x > /dev/stdout; echo last", Item(path: "a"), by: "/bin/sh")
        #expect(text == "x\nlast\n")
    }

    @Test func `the tail of an output has at most the requested bytes`() throws {
        let spool = try SpoolDirectory().makeSpool()
        try spool.file.writeAll("abcdef".utf8)
        #expect(try spool.tail(byteCount: 3) == Array("def".utf8))
        #expect(try spool.tail(byteCount: 9) == Array("abcdef".utf8))
    }
}
