#if Networking
import Foundation
import HTTPCore
import HTTPTypes
import LoopbackServer
import NIOCore
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport

/// What has come of a scene. Everything that is waited for here is there, or the test's time limit ends it.
struct FaultReport: Sendable {
    /// The error's reason, or nil.
    var reason: String?
    /// All that the error says, for who reads of a failure.
    var explanation = ""
    var hasRightValue = false
    var completions = 0
    var files: [String] = []
    /// While it was paused.
    var pausedState: HTTPOperationState?

    /// As the table has it.
    var outcome: String { reason ?? (hasRightValue ? "ends well" : "a wrong value") }
}

extension FaultScene {
    /// Plays the scene, and comes back when nothing is left of it: no connection, no task, no slot.
    func play() async throws -> FaultReport {
        let server = try await LoopbackServer.start(configuration, handler: handler())
        let relay = try relay(to: server.port)
        let folder = try Folder()
        let report = try await play(server, relay, folder)
        try Task.checkCancellation()
        // The session is gone, and with it the connections that could have been used again.
        relay?.release()
        await relay?.isDeserted()
        await server.openConnections(are: 0)
        await server.stop()
        return report
    }

    private func play(_ server: LoopbackServer, _ relay: Relay?, _ folder: Folder) async throws -> FaultReport {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let clock = VirtualClock()
        let session = try HTTPSession.trusting(server) {
            $0.setClock(clock)
            $0.credentials = Always()
            $0.fileSteps = fileSteps
        }
        var request = try request(server.url, folder)
        if let relay {
            request.url = "\(server.certificates == nil ? "http" : "https")://127.0.0.1:\(relay.port)/a"
        } else if cell.phase == .connecting, cell.kind == .reset {
            request.url = "http://127.0.0.1:1/a"
        }
        let subject = Subject(target, request, folder.file("x"), serializer, session)
        let completions = Guarded(0)
        subject.operation.completionBlock = { completions.withLock { $0 += 1 } }
        queue.isSuspended = cell.phase == .queued
        queue.addOperation(subject.operation)
        let value = subject.reading()
        var report = FaultReport()
        try await happen(subject.operation, queue, clock, server, relay, folder, &report)
        let result = await value.result
        await subject.operation.waitUntilFinished()
        // A server that reads nothing does not see that its client has gone.
        letGo(queue, relay)
        // The slot is free, and nothing ticks any more.
        await queue.addTask {}.waitUntilFinished()
        while clock.advanceToNextSleeper() { await Task.yield() }
        await queue.waitUntilAllOperationsAreFinished()
        await server.requestsInFlight(are: 0)
        while completions.withLock({ $0 }) == 0 { await Task.yield() }
        report.completions = completions.withLock { $0 }
        report.files = folder.names.filter { $0 != "upload" }
        switch result {
        case .success(let data):
            // A stream hands on what comes with whatever status; its reader judges that.
            let status = subject.operation.response?.status
            if target == .stream, let status, status.kind != .successful { report.reason = "unacceptableStatus" }
            report.hasRightValue = cell.kind == .challengeLoop ? data.count == 30_000 : data == Data(Self.body.bytes)
        case .failure(let error as HTTPError):
            report.reason = HTTPCoreReason(error).text
            report.explanation = "\(error.reason)"
        case .failure(let error): report.reason = "\(error)"
        }
        return report
    }

    /// Waits until it is where it is to be, and does to it what is to be done.
    private func happen(
        _ operation: AnyHTTPOperation, _ queue: OperationQueue, _ clock: VirtualClock, _ server: LoopbackServer,
        _ relay: Relay?, _ folder: Folder, _ report: inout FaultReport
    ) async throws {
        let letGo = { self.letGo(queue, relay) }
        switch cell.kind {
        case .cancel:
            try await isThere(operation, relay)
            operation.cancel()
            // What is on its way to nobody is not held up to end it.
            if cell.phase == .queued || cell.phase == .decoding { letGo() }
        case .pause:
            try await isThere(operation, relay)
            operation.pause()
            if cell.phase == .decoding { return letGo() }
            queue.isSuspended = false
            await queue.addTask {}.waitUntilFinished()
            report.pausedState = operation.state
            letGo()
            operation.resume()
        case .stall:
            try await isThere(operation, relay)
            guard cell.phase != .queued, cell.phase != .decoding else {
                clock.advance(by: .seconds(100))
                return letGo()
            }
            // No byte comes, for as long as is allowed.
            while !operation.isFinished {
                clock.advance(by: .seconds(10))
                while clock.sleeperCount == 0, !operation.isFinished { await Task.yield() }
            }
        case .wrongRange where cell.phase != .head:
            try await isThere(operation, relay)
            operation.pause()
            await queue.addTask {}.waitUntilFinished()
            report.pausedState = operation.state
            operation.resume()
        case .wrongLength where cell.phase == .sending:
            try await isThere(operation, relay)
            try FileHandle(forWritingTo: URL(filePath: folder.file("upload"))).truncate(atOffset: 1 << 10)
            letGo()
        case .reset, .truncation:
            if cell.phase == .decoding {
                await decodes.reached()
                // The connection is at rest, and ends there.
                gate.open()
                await server.openConnections(are: 0)
                letGo()
            }
        default:
            if cell.phase == .decoding { letGo() }
        }
    }

    /// Nobody is held up any more.
    private func letGo(_ queue: OperationQueue, _ relay: Relay?) {
        queue.isSuspended = false
        relay?.release()
        gate.open()
        decodes.open()
        mayDecode.open()
    }

    private func isThere(_ operation: AnyHTTPOperation, _ relay: Relay?) async throws {
        switch cell.phase {
        case .queued: break
        case .connecting: await relay?.isKnockedAt()
        case .handshake, .head: await relay?.holdsUp()
        case .sending, .waiting: await gate.reached()
        case .decoding: await decodes.reached()
        case .memory, .download, .stream:
            for await progress in operation.transferProgressUpdates where progress.received == 20_000 { break }
        }
        // Of a test whose time is over nothing is held up, and what would come of it says nothing.
        try Task.checkCancellation()
    }

    private struct Always: HTTPCredentialSource {
        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { .password(user: "a", password: "b") }
    }
}

/// An operation of one kind or another, and how its value is got.
private struct Subject: Sendable {
    let operation: AnyHTTPOperation
    let value: @Sendable () async throws -> Data

    init(
        _ target: FaultScene.Target, _ request: HTTPOperationRequest, _ path: String,
        _ serializer: HTTPSerializer<Data>, _ session: HTTPSession
    ) {
        switch target {
        case .memory:
            let operation = HTTPOperation(request, as: serializer, session: session)
            self.operation = operation
            value = { try await operation.value }
        case .download:
            let operation = HTTPDownloadOperation(request, to: path, session: session)
            self.operation = operation
            value = { try Data(contentsOf: URL(filePath: try await operation.value)) }
        case .stream:
            let operation = HTTPStreamOperation(request, session: session)
            self.operation = operation
            let body = operation.body
            value = {
                var data = Data()
                for try await portion in body { data.append(contentsOf: portion.readableBytesView) }
                return data
            }
        }
    }

    func reading() -> Task<Data, any Error> { Task { [value] in try await value() } }
}
#endif
