import HTTPTestServer
import HTTPTypes
import NIOCore
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// Request bodies whose sequence has no portion when the request ends.
@Suite(.timeLimit(.minutes(1))) struct IdleSourcesTests {
    /// A body with one portion, and then none until the task is cancelled or, if the body ignores that, until `gate` opens.
    private struct Idle: AsyncSequence, AsyncIteratorProtocol, Sendable {
        final class Sentinel: Sendable {}

        let sentinel: Sentinel
        let isIdle: AsyncGate
        /// `nil` if the body ends when its task is cancelled.
        let gate: AsyncGate?
        var isBegun = false

        func makeAsyncIterator() -> Idle { self }

        mutating func next() async -> ByteBuffer? {
            if !isBegun {
                isBegun = true
                return ByteBuffer(bytes: [1, 2, 3])
            }
            isIdle.open()
            if let gate {
                await gate.pass()
            } else {
                // The stream ends when the task is cancelled.
                for await _ in AsyncStream.makeStream(of: Never.self).stream {}
            }
            return nil
        }
    }

    /// The objects that a cancelled request must release.
    private struct Remains {
        let source: Weak
        let session: Weak
        let transfer: Weak
    }

    /// Cancels a request while its body is idle.
    private func cancelled(at url: String, gate: AsyncGate?) async -> Remains {
        let session = HTTPSession.plain()
        let body = Idle(sentinel: Idle.Sentinel(), isIdle: AsyncGate(), gate: gate)
        let queue = OperationQueue()
        let operation = HTTPDataOperation(
            HTTPRequestDescription(.put, url), sending: HTTPBodySource(buffers: body), as: .data, session: session)
        let remains = Remains(
            source: Weak(body.sentinel), session: Weak(session), transfer: Weak(operation.transfer))
        queue.addOperation(operation)
        await body.isIdle.pass()
        operation.cancel()
        let why = await reason { try await operation.value }
        #expect(why?.text == "cancelled")
        await queue.waitUntilAllOperationsAreFinished()
        return remains
    }

    @Test func `a request that is cancelled while its source is idle releases everything`() async throws {
        try await withServer({ _ in LoopbackResponse() }) { server in
            let remains = await cancelled(at: server.url + "/", gate: nil)
            for object in [remains.source, remains.session, remains.transfer] {
                await object.goes()
                #expect(object.isGone)
            }
        }
    }

    @Test func `a source that ignores its cancellation keeps only itself`() async throws {
        let gate = AsyncGate()
        defer { gate.open() }
        try await withServer({ _ in LoopbackResponse() }) { server in
            let remains = await cancelled(at: server.url + "/", gate: gate)
            for object in [remains.session, remains.transfer] {
                await object.goes()
                #expect(object.isGone)
            }
            #expect(!remains.source.isGone)
            gate.open()
            await remains.source.goes()
            #expect(remains.source.isGone)
        }
    }

    @Test func `an idle source is released when the server refuses its body`() async throws {
        var configuration = HTTPTestServer.Configuration()
        configuration.answersEarly = { _ in true }
        try await withServer({ _ in LoopbackResponse(.contentTooLarge) }, configuration) { server in
            let body = Idle(sentinel: Idle.Sentinel(), isIdle: AsyncGate(), gate: nil)
            let source = Weak(body.sentinel)
            let session = HTTPSession.plain()
            let queue = OperationQueue()
            do {
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(.put, server.url + "/"), sending: HTTPBodySource(buffers: consume body),
                    as: .data, session: session)
                queue.addOperation(operation)
                let why = await reason { try await operation.value }
                #expect(why?.text == "unacceptableStatus")
            }
            await queue.waitUntilAllOperationsAreFinished()
            await source.goes()
            #expect(source.isGone)
            await server.openConnections(are: 0)
        }
    }

    @Test func `a source that is idle after its announced length is released at the end of the request`() async throws {
        let session = HTTPSession.plain()
        let queue = OperationQueue()
        try await withServer({ _ in LoopbackResponse.text("taken") }) { server in
            let body = Idle(sentinel: Idle.Sentinel(), isIdle: AsyncGate(), gate: nil)
            let source = Weak(body.sentinel)
            do {
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(.put, server.url + "/"),
                    sending: HTTPBodySource(buffers: consume body, length: 3), as: .text, session: session)
                queue.addOperation(operation)
                let answer = try await operation.value
                #expect(answer == "taken")
            }
            await queue.waitUntilAllOperationsAreFinished()
            await source.goes()
            #expect(source.isGone)
        }
    }

    @Test func `a body whose bytes were all sent ends normally although its source is idle`() async throws {
        let relay = PortionRelay()
        let portions = Idle(sentinel: Idle.Sentinel(), isIdle: AsyncGate(), gate: nil)
        let source = RevocableBody.Source(DetachedPortions(base: portions, relay: relay), length: 3)
        _ = try await source.next()
        let reader = Task { try await source.next() }
        await portions.isIdle.pass()
        source.exchangeIsOver()
        relay.stop()
        let end = try await reader.value
        #expect(end == nil)
    }
}
