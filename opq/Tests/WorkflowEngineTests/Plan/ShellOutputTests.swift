import Glibc
import Testing

@testable import WorkflowEngine

struct ShellOutputTests {
    @Test func `the end of the shell counts, and not that of the processes that it leaves behind`() throws {
        let output = try ShellOutput.run("sleep 1000 & echo $!; exit 3", limit: 100).get()
        #expect(output.status == 3 << 8)
        let process = try #require(pid_t(String(decoding: output.bytes, as: UTF8.self).dropLast()))
        #expect(kill(process, SIGKILL) == 0)
    }

    @Test func `a command that prints too much is ended`() throws {
        let output = try ShellOutput.run("exec yes", limit: 1000).get()
        #expect(output.bytes.count > 1000)
        #expect(output.status == SIGKILL)
    }

    @Test func `all output before the end is read`() throws {
        let output = try ShellOutput.run("head -c 300000 /dev/zero; exec >&-; true", limit: 1 << 20).get()
        #expect(output.bytes.count == 300_000)
        #expect(output.status == 0)
    }
}
