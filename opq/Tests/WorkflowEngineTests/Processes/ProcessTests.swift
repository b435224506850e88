import Foundation
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import WorkflowEngine

@Suite(.timeLimit(.minutes(1)))
struct ProcessTests {
    @Test func `an attempt is repeated until the resource is available`() async throws {
        let watch = try ProcessWatch()
        let count = Atomic<Int>(0)
        await withCheckedContinuation { continuation in
            watch.send(
                .attempt { isLast in
                    #expect(!isLast)
                    guard count.add(1, ordering: .relaxed).newValue == 3 else { return false }
                    continuation.resume()
                    return true
                })
        }
        watch.send(.stop)
    }

    @Test func `without running commands, an attempt is made a last time after the patience`() async throws {
        let watch = try ProcessWatch(patience: .milliseconds(1))
        await withCheckedContinuation { continuation in
            watch.send(
                .attempt { isLast in
                    if isLast { continuation.resume() }
                    return isLast
                })
        }
        watch.send(.stop)
    }

    @Test func `no attempt is the last one while a command runs`() async throws {
        let directory = try TemporaryDirectory()
        try #require(mkfifo(directory.path + "/gate", 0o600) == 0)
        let watch = try ProcessWatch(patience: .zero)
        let spool = try SpoolDirectory().makeSpool()
        let process = try CommandProcess(operation("read x < gate", in: directory), output: spool.file)
        let hasEnded = Atomic(false)
        let count = Atomic<Int>(0)
        watch.send(.watch(process, watch.makeToken()) { _ in hasEnded.store(true, ordering: .sequentiallyConsistent) })
        await withCheckedContinuation { continuation in
            watch.send(
                .attempt { isLast in
                    #expect(!isLast)
                    if count.add(1, ordering: .relaxed).newValue == 2 {
                        Thread.detachNewThread { close(open(directory.path + "/gate", O_WRONLY)) }
                    }
                    guard hasEnded.load(ordering: .sequentiallyConsistent) else { return false }
                    continuation.resume()
                    return true
                })
        }
        watch.send(.stop)
    }

    @Test func `a process without a descriptor is watched as well`() async throws {
        let directory = try TemporaryDirectory()
        let watch = try ProcessWatch()
        let spool = try SpoolDirectory().makeSpool()
        let process = try CommandProcess(operation("exit 5", in: directory), output: spool.file)
        let bare = CommandProcess(identifier: process.identifier)
        let end = await withCheckedContinuation { continuation in
            watch.send(.watch(bare, watch.makeToken()) { continuation.resume(returning: $0) })
        }
        #expect(end == .exit(5))
        try process.descriptor?.close()
        watch.send(.stop)
    }

    @Test func `an ended process keeps its identifier until it is reaped`() throws {
        let directory = try TemporaryDirectory()
        let spool = try SpoolDirectory().makeSpool()
        for (command, expected) in [("exit 7", ProcessEnd.exit(7)), ("kill -9 $$", .signal(9))] {
            let process = try CommandProcess(operation(command, in: directory), output: spool.file)
            var ready = pollfd(fd: try #require(process.descriptor).rawValue, events: Int16(POLLIN), revents: 0)
            #expect(poll(&ready, 1, -1) == 1)
            #expect(process.end() == expected)
            #expect(process.end() == expected)
            #expect(ProcessGroup(identifier: process.identifier).send(0))
            process.reap()
            #expect(!ProcessGroup(identifier: process.identifier).send(0))
            #expect(!ProcessGroup(identifier: process.identifier).isAlive)
        }
    }

    @Test func `a reused process identifier does not count as the group`() throws {
        let directory = try TemporaryDirectory()
        try #require(mkfifo(directory.path + "/gate", 0o600) == 0)
        let spool = try SpoolDirectory().makeSpool()
        // The process runs, so it cannot be the leader of a group whose leader was reaped.
        let process = try CommandProcess(operation("read x < gate", in: directory), output: spool.file)
        let group = ProcessGroup(identifier: process.identifier)
        #expect(group.send(0))
        #expect(!group.isAlive)
        group.kill()
        var ready = pollfd(fd: try #require(process.descriptor).rawValue, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, -1) == 1)
        process.reap()
    }

    @Test func `a spool in a missing directory fails, and a new spool has lost no output`() throws {
        // A test cannot create a full file system, so the test uses a directory that does not exist.
        let directory = SpoolDirectory(path: "/proc/self/nowhere")
        #expect(
            throws: StartFailure(
                text: "cannot make a temporary file in '/proc/self/nowhere': No such file or directory")
        ) {
            try directory.makeSpool()
        }
        #expect(try !SpoolDirectory().makeSpool().mayHaveLostOutput)
    }

    private func operation(_ command: String, in directory: TemporaryDirectory) -> PlannedOperation {
        PlannedOperation(
            name: "x", command: command, directory: directory.path, queue: "q")
    }
}
