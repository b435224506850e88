import Foundation
import Synchronization
import SystemPackage
import WorkflowTestSupport
import Testing

@testable import WorkflowEngine

@Suite(.timeLimit(.minutes(1)))
struct ProcessTests {
    private let null = FileDescriptor(rawValue: open("/dev/null", O_RDWR | O_CLOEXEC))

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
        let hasEnded = Atomic(false)
        let count = Atomic<Int>(0)
        try watch.start(operation("read x < gate", in: directory), as: watch.makeToken()) { process in
            ProcessWatch.Watched(process: process) { _ in hasEnded.store(true, ordering: .sequentiallyConsistent) }
        }
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
        let process = try CommandProcess(
            operation("exit 5", in: directory), CommandProcess.Streams(input: null, output: null, errors: null))
        let bare = CommandProcess(identifier: process.identifier)
        let end = await withCheckedContinuation { continuation in
            let command = ProcessWatch.Watched(process: bare) { continuation.resume(returning: $0) }
            watch.watch(command, as: watch.makeToken())
        }
        #expect(end == CommandEnd(end: .exit(5), hasTimedOut: false))
        try process.descriptor?.close()
        watch.send(.stop)
    }

    @Test func `an ended process keeps its identifier until it is reaped`() throws {
        let directory = try TemporaryDirectory()
        for (command, expected) in [("exit 7", ProcessEnd.exit(7)), ("kill -9 $$", .signal(9))] {
            let process = try CommandProcess(
                operation(command, in: directory), CommandProcess.Streams(input: null, output: null, errors: null))
            var ready = pollfd(fd: try #require(process.descriptor).rawValue, events: Int16(POLLIN), revents: 0)
            #expect(poll(&ready, 1, -1) == 1)
            #expect(process.hasEnded)
            #expect(process.hasEnded)
            #expect(ProcessGroup(identifier: process.identifier).send(0))
            #expect(process.reap() == expected)
            #expect(!ProcessGroup(identifier: process.identifier).send(0))
            #expect(!ProcessGroup(identifier: process.identifier).isAlive())
        }
    }

    @Test func `a reused process identifier does not count as the group`() throws {
        let directory = try TemporaryDirectory()
        try #require(mkfifo(directory.path + "/gate", 0o600) == 0)
        // The process runs, so it cannot be the leader of a group whose leader was reaped.
        let process = try CommandProcess(
            operation("read x < gate", in: directory), CommandProcess.Streams(input: null, output: null, errors: null))
        let group = ProcessGroup(identifier: process.identifier)
        #expect(group.send(0))
        #expect(!group.isAlive())
        group.kill()
        var ready = pollfd(fd: try #require(process.descriptor).rawValue, events: Int16(POLLIN), revents: 0)
        #expect(poll(&ready, 1, -1) == 1)
        #expect(process.reap() == .signal(9))
    }

    private func operation(_ command: String, in directory: TemporaryDirectory) -> PlannedOperation {
        PlannedOperation(
            name: "x", command: command, directory: directory.path, queue: "q")
    }
}
