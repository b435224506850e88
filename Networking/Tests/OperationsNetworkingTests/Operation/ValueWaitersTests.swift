import Foundation
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// The cancellation of tasks that await a request in any form.
@Suite(.timeLimit(.minutes(5))) struct ValueWaitersTests {
    private let queue = OperationQueue()
    private let session = HTTPSession.plain()

    /// Runs a test with a server whose responses stall, either before the head or in the body.
    private func withStall(
        _ point: LoopbackResponse.Point = .afterBody(10), _ body: (HTTPTestServer, LoopbackGate) async throws -> Void
    ) async throws {
        let gate = LoopbackGate()
        let response = LoopbackResponse(body: .pattern(length: 1000)).with(.stalls(point, until: gate))
        try await withServer({ _ in response }) { try await body($0, gate) }
    }

    /// A form in which a task awaits a request.
    enum Form: CaseIterable { case data, download, handle, batch, batchOfDownloads, any }

    /// Begins a request. Returns its operation, a function that awaits it, and the number of the awaiting tasks.
    private func begin(
        _ form: Form, _ url: String, in folder: Folder
    ) throws -> (HTTPOperation?, @Sendable () async throws -> Void, @Sendable () -> Int?) {
        switch form {
        case .data:
            let operation = HTTPDataOperation(get(url), session: session)
            queue.addOperation(operation)
            return (operation, { _ = try await operation.value }, { operation.waiters.count })
        case .download:
            let operation = HTTPDownloadOperation(get(url), to: folder.file("x"), session: session)
            queue.addOperation(operation)
            return (operation, { _ = try await operation.value }, { operation.waiters.count })
        case .handle:
            let handle = try HTTPClientQueue(session: session).get(url, as: .data)
            return (handle.transfer, { _ = try await handle.value }, { handle.promise.waiterCount })
        case .batch:
            let batch = try HTTPClientQueue(session: session).batch([.request(get(url), as: .data)])
            return (nil, { _ = try await batch.values }, { nil })
        case .batchOfDownloads:
            let batch = try HTTPClientQueue(session: session).batch([.download(url, to: folder.file("x"))])
            return (nil, { _ = try await batch.values }, { nil })
        case .any:
            let operation = HTTPDataOperation(get(url), session: session)
            let batch = try HTTPClientQueue(session: session).batch([.any(operation)])
            return (operation, { _ = try await batch.values }, { nil })
        }
    }

    @Test(arguments: Form.allCases, [LoopbackResponse.Point.beforeHead, .afterBody(10)])
    func `cancelling the only awaiting task stops the transfer`(form: Form, point: LoopbackResponse.Point) async throws
    {
        let folder = try Folder()
        try await withStall(point) { server, gate in
            let (operation, value, _) = try begin(form, server.url + "/", in: folder)
            let task = Task { await reason { try await value() }?.text }
            await gate.reached()
            task.cancel()
            #expect(await task.value == "cancelled")
            await operation?.waitUntilFinished()
            #expect(operation?.isCancelled != false)
            await server.openConnections(are: 0)
            #expect(!folder.names.contains("x"))
        }
    }

    @Test(arguments: [Form.data, .download, .handle])
    func `a request that another task awaits continues, until that task is cancelled too`(form: Form) async throws {
        let folder = try Folder()
        for isFinished in [true, false] {
            try await withStall { server, gate in
                let (begun, value, count) = try begin(form, server.url + "/", in: folder)
                let operation = try #require(begun)
                let (one, other) = (Task { try await value() }, Task { try await value() })
                await gate.reached()
                while count() != 2 { await Task.yield() }
                one.cancel()
                while count() != 1 { await Task.yield() }
                #expect(!operation.isCancelled)
                if isFinished { gate.open() } else { other.cancel() }
                let reason = await reason { try await other.value }
                await operation.waitUntilFinished()
                #expect(operation.isCancelled != isFinished && reason?.text == (isFinished ? nil : "cancelled"))
            }
        }
    }

    @Test func `cancelling a task that awaits one handle of a shared transfer ends only its request`() async throws {
        try await withStall { server, gate in
            let client = try HTTPClientQueue(session: session)
            let (one, other) = (client.get(server.url + "/", as: .data), client.get(server.url + "/", as: .data))
            let task = Task { await reason { try await one.value }?.text }
            await gate.reached()
            task.cancel()
            #expect(await task.value == "cancelled")
            guard case .failure? = one.result else {
                Issue.record("the request continues")
                return
            }
            #expect(other.result == nil && other.transfer?.isCancelled == false)
            gate.open()
            #expect(try await other.value.count == 1000)
        }
    }

    @Test(arguments: [Form.data, .download])
    func `a task that is cancelled before the start sends nothing`(form: Form) async throws {
        let folder = try Folder()
        try await withServer({ _ in LoopbackResponse() }) { server in
            queue.isSuspended = true
            let (operation, value, _) = try begin(form, server.url + "/", in: folder)
            let task = Task { await reason { try await value() }?.text }
            task.cancel()
            #expect(await task.value == "cancelled")
            queue.isSuspended = false
            await operation?.waitUntilFinished()
            #expect(operation?.isCancelled == true && server.requests.isEmpty)
        }
    }

    @Test func `a cancelled task that awaits a finished request gets its value`() async throws {
        let folder = try Folder()
        try await withServer({ _ in .text("x") }) { server in
            for form in [Form.data, .download, .handle] {
                let (operation, value, _) = try begin(form, server.url + "/", in: folder)
                try await value()
                let task = Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    try await value()
                }
                try await task.value
                #expect(operation?.isCancelled == false)
            }
        }
    }

    // MARK: - Streams

    @Test func `cancelling the reader of a stream stops the transfer while the iterator is in use`() async throws {
        try await withStall { server, gate in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            let mayEnd = AsyncGate()
            let reader = Task {
                let iterator = operation.body.makeAsyncIterator()
                do { while try await iterator.next() != nil {} } catch {
                    await mayEnd.pass()
                    withExtendedLifetime(iterator) {}
                    throw error
                }
            }
            await gate.reached()
            reader.cancel()
            await operation.waitUntilFinished()
            #expect(operation.isCancelled)
            mayEnd.open()
            await #expect(throws: CancellationError.self) { try await reader.value }
            await server.openConnections(are: 0)
        }
    }

    @Test func `a cancelled reader never takes the rest of a complete body for its end`() async throws {
        try await withServer({ _ in LoopbackResponse(body: .pattern(length: 1000)) }) { server in
            let operation = HTTPStreamOperation(get(server.url + "/"), session: session)
            queue.addOperation(operation)
            await operation.waitUntilFinished()
            let reader = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                for try await _ in operation.body { Issue.record("a portion") }
            }
            await #expect(throws: CancellationError.self) { try await reader.value }
        }
    }
}
