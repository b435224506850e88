import Glibc
import SystemPackage
import Testing

@testable import WorkflowEngine

struct PlainValueTests {
    @Test func `parentheses within arithmetic are arithmetic`() {
        #expect(CommandTemplate(Template("(( ({item}) ))")).misplaced.map(\.obstacle) == [.arithmetic])
    }

    @Test func `output to a reopened path follows the earlier output, which is not lost`() throws {
        let text = try ShellRun().output(
            of: "echo first; echo x > /dev/stdout; echo last", Item(path: "a"), by: "/bin/sh")
        #expect(text == "first\nx\nlast\n")
    }
}
