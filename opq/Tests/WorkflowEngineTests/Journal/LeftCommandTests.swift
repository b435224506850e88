import Glibc
import SystemPackage
import SystemPackage
import Testing

@testable import WorkflowEngine

struct LeftCommandTests {
    @Test func `a process is the same if it started between two readings of the clock`() {
        let mark = ProcessMark(identifier: 5, earliest: 1_234_000_000, latest: 1_239_000_000)
        #expect((120...126).filter { mark.isStart($0, perSecond: 100) } == [122, 123, 124])
    }

    @Test func `a command that another opq started is ended, also if it ignores SIGTERM`() throws {
        let directory = try TemporaryDirectory()
        let null = FileDescriptor(rawValue: open("/dev/null", O_RDWR | O_CLOEXEC))
        defer { try? null.close() }
        for (name, command) in [
            ("mild", "sleep 1000"), ("stubborn", "trap '' TERM; echo > ready; sleep 1000 & wait; wait"),
        ] {
            let operation = PlannedOperation(name: name, command: command, directory: directory.path, queue: "q")
            let earliest = ProcessMark.now
            let process = try CommandProcess(operation, CommandProcess.Streams(input: null, output: null, errors: null))
            let left = LeftCommand(
                name: name,
                mark: ProcessMark(identifier: process.identifier, earliest: earliest, latest: ProcessMark.now))
            #expect(left.isRunning)
            let other = ProcessMark(identifier: process.identifier, earliest: 0, latest: 1)
            #expect(!LeftCommand(name: name, mark: other).isRunning)
            if name == "stubborn" { while access(directory.path + "/ready", F_OK) != 0 { sched_yield() } }
            #expect(left.end(grace: .milliseconds(50)))
            #expect(!left.isRunning)
            _ = process.reap()
        }
    }
}
