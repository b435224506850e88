import Foundation
import HTTPCore
import HTTPTypes
import HTTPTestServer
import NIOCore
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport

/// The report of a scene. Every wait in this file ends, or the test's time limit ends it.
struct FaultReport: Sendable {
    /// The reason of the error; nil for success.
    var reason: String?
    /// The whole description of the error, for messages.
    var explanation = ""
    var hasRightValue = false
    var completions = 0
    var files: [String] = []
    /// The state during the pause.
    var pausedState: HTTPOperationState?

    /// The outcome, as in the table.
    var outcome: String { reason ?? (hasRightValue ? "ends well" : "a wrong value") }
}

extension FaultScene {
    /// Runs the scene. Returns after all its connections, tasks and slots are gone.
    func play() async throws -> FaultReport {
        let server = try await HTTPTestServer.start(configuration, handler: handler())
        let relay = try relay(to: server.port)
        let folder = try Folder()
        let report = try await play(server, relay, folder)
        try Task.checkCancellation()
        // The session has ended, and with it the idle connections.
        relay?.release()
        await relay?.isDeserted()
        await server.openConnections(are: 0)
        await server.stop()
        return report
    }

    private func play(_ server: HTTPTestServer, _ relay: Relay?, _ folder: Folder) async throws -> FaultReport {
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
        // A server that does not read cannot notice that its client has closed the connection.
        letGo(queue, relay)
        // The slot is free, and no timer remains.
        await queue.addTask {}.waitUntilFinished()
        while clock.advanceToNextSleeper() { await Task.yield() }
        await queue.waitUntilAllOperationsAreFinished()
        await server.requestsInFlight(are: 0)
        while completions.withLock({ $0 }) == 0 { await Task.yield() }
        report.completions = completions.withLock { $0 }
        report.files = folder.names.filter { $0 != "upload" }
        switch result {
        case .success(let data):
            // A stream delivers the body of every status, and its reader checks the status.
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

    /// Waits until the operation has reached the phase, and causes the fault.
    private func happen(
        _ operation: HTTPOperation, _ queue: OperationQueue, _ clock: VirtualClock, _ server: HTTPTestServer,
        _ relay: Relay?, _ folder: Folder, _ report: inout FaultReport
    ) async throws {
        let letGo = { self.letGo(queue, relay) }
        switch cell.kind {
        case .cancel:
            try await isThere(operation, relay)
            operation.cancel()
            // In these phases a cancelled operation ends only after its release.
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
            // No byte arrives until the time limit has passed.
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
                // The connection is idle, and the server closes it.
                gate.open()
                await server.openConnections(are: 0)
                letGo()
            }
        default:
            if cell.phase == .decoding { letGo() }
        }
    }

    /// Releases everything that the scene holds up.
    private func letGo(_ queue: OperationQueue, _ relay: Relay?) {
        queue.isSuspended = false
        relay?.release()
        gate.open()
        decodes.open()
        mayDecode.open()
    }

    private func isThere(_ operation: HTTPOperation, _ relay: Relay?) async throws {
        switch cell.phase {
        case .queued: break
        case .connecting: await relay?.isKnockedAt()
        case .handshake, .head: await relay?.holdsUp()
        case .sending, .waiting: await gate.reached()
        case .decoding: await decodes.reached()
        case .memory, .download, .stream:
            for await progress in operation.transferProgressUpdates where progress.received == 20_000 { break }
        }
        // If the test's time limit has passed, the phase was not reached and the outcome is meaningless.
        try Task.checkCancellation()
    }

    private struct Always: HTTPCredentialSource {
        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { .password(user: "a", password: "b") }
    }
}

/// An operation of any kind, with a way to get its value.
private struct Subject: Sendable {
    let operation: HTTPOperation
    let value: @Sendable () async throws -> Data

    init(
        _ target: FaultScene.Target, _ request: HTTPRequestDescription, _ path: String,
        _ serializer: HTTPSerializer<Data>, _ session: HTTPSession
    ) {
        switch target {
        case .memory:
            let operation = HTTPDataOperation(request, as: serializer, session: session)
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
                for try await portion in body { data.append(contentsOf: portion) }
                return data
            }
        }
    }

    func reading() -> Task<Data, any Error> { Task { [value] in try await value() } }
}
