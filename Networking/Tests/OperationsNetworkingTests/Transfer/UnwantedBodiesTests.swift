import Foundation
import HTTPTypes
import HTTPTestServer
import NIOCore
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Bodies that the receiver does not want, in both directions.
@Suite(.timeLimit(.minutes(5))) struct UnwantedBodiesTests {
    private let queue = OperationQueue()

    private struct Known: HTTPCredentialSource {
        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { .password(user: "a", password: "b") }
    }

    @Test(arguments: [HTTPResponse.Status.found, .unauthorized])
    func `a redirect or a challenge takes effect even if its body breaks off`(
        status: HTTPResponse.Status
    ) async throws {
        let session = HTTPSession.plain { $0.credentials = Known() }
        let fields: HTTPFields = [.location: "/", .wwwAuthenticate: "Basic realm=\"a\""]
        try await withServer({ request in
            request.number > 1
                ? .text("here")
                : LoopbackResponse(status, fields: fields, body: .pattern(length: 30_000)).with(
                    .resetsConnection(.afterBody(10_000)))
        }) { server in
            let operation = HTTPDataOperation(get(server.url + "/a"), as: .text, session: session)
            queue.addOperation(operation)
            let value = try await operation.value
            #expect(value == "here")
            #expect(server.requests.count == 2)
        }
    }

    @Test(arguments: [HTTPResponse.Status.found, .unauthorized])
    func `a redirect or a challenge takes effect soon, although its body does not end`(
        status: HTTPResponse.Status
    ) async throws {
        let (gate, clock) = (LoopbackGate(), VirtualClock())
        let session = HTTPSession.plain {
            $0.credentials = Known()
            $0.setClock(clock)
        }
        let fields: HTTPFields = [.location: "/", .wwwAuthenticate: "Basic realm=\"a\""]
        try await withServer({ request in
            request.number > 1
                ? .text("here")
                : LoopbackResponse(status, fields: fields, body: .pattern(length: 30_000)).with(
                    .stalls(.afterBody(10_000), until: gate))
        }) { server in
            let operation = HTTPDataOperation(get(server.url + "/a"), as: .text, session: session)
            queue.addOperation(operation)
            await gate.reached()
            while clock.nextDeadline?.offset != .seconds(1) { await Task.yield() }
            clock.advance(by: .seconds(1))
            let value = try await operation.value
            #expect(value == "here")
            gate.open()
        }
    }

    @Test func `a request that is cancelled while it discards a body ends as cancelled`() async throws {
        let gate = LoopbackGate()
        let session = HTTPSession.plain()
        try await withServer({ _ in
            LoopbackResponse(.found, fields: [.location: "/b"], body: .pattern(length: 30_000)).with(
                .stalls(.afterBody(10_000), until: gate))
        }) { server in
            let operation = HTTPDataOperation(get(server.url + "/a"), session: session)
            queue.addOperation(operation)
            await gate.reached()
            operation.cancel()
            let why = await reason { try await operation.value }
            #expect(why?.text == "cancelled")
            #expect(server.requests.count == 1)
            await server.openConnections(are: 0)
        }
    }

    @Test func `a refusal by the head is reported even if the body breaks off`() async throws {
        let session = HTTPSession.plain()
        try await withServer({ request in
            LoopbackResponse(request.path == "/200" ? .ok : .contentTooLarge, body: .pattern(length: 30_000)).with(
                .resetsConnection(.afterBody(10_000)))
        }) { server in
            func outcome(_ path: String, _ serializer: HTTPSerializer<Data>) async -> [String?] {
                let operation = HTTPDataOperation(get(server.url + path), as: serializer, session: session)
                queue.addOperation(operation)
                let alone = await reason { try await operation.value }?.text
                guard let client = try? HTTPClientQueue(session: session) else { return [alone] }
                let handle = client.get(server.url + path, as: serializer)
                return [alone, await reason { try await handle.value }?.text]
            }
            var anything = HTTPSerializer<Data>.data
            let refused = await outcome("/413", anything)
            #expect(refused == ["unacceptableStatus", "unacceptableStatus"])
            let broken = await outcome("/200", anything)
            #expect(broken == ["truncated", "truncated"])
            anything.acceptableStatuses = nil
            let wanted = await outcome("/413", anything)
            #expect(wanted.first == "truncated")
            let stream = HTTPStreamOperation(get(server.url + "/413"), session: session)
            queue.addOperation(stream)
            let read = await reason { for try await _ in stream.body {} }
            #expect(read?.text == "truncated", "who reads a stream has the status already")
        }
    }

    @Test func `a refusal by the head is reported even if the body is too long, damaged or late`() async throws {
        let (gate, clock) = (LoopbackGate(), VirtualClock())
        let session = HTTPSession.plain { $0.setClock(clock) }
        try await withServer({ request in
            let body = LoopbackResponse(.contentTooLarge, body: .pattern(length: 30_000))
            switch request.path {
            case "/long": return body
            case "/damaged":
                return LoopbackResponse(.contentTooLarge, fields: [.contentEncoding: "gzip"], body: .text("x"))
            default: return body.with(.stalls(.afterBody(10_000), until: gate))
            }
        }) { server in
            for path in ["/long", "/damaged", "/late"] {
                var request = get(server.url + path)
                if path == "/long" { request.limits.maxBufferedBytes = 1000 }
                let operation = HTTPDataOperation(request, session: session)
                queue.addOperation(operation)
                if path == "/late" {
                    await gate.reached()
                    while operation.transferProgress.received < 10_000 { await Task.yield() }
                    // The limit begins again with each portion, so its end may be later than that of one advance.
                    while !operation.isFinished {
                        clock.advance(by: .seconds(10))
                        await Task.yield()
                    }
                }
                let why = await reason { try await operation.value }
                #expect(why?.text == "unacceptableStatus", "\(path)")
            }
            gate.open()
        }
    }

    @Test func `a body in an unknown transfer coding is an error, and never delivered as it is`() async throws {
        for coding in ["gzip, chunked", "GZIP,chunked"] {
            let port = try LoopbackSocket.answering(
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: \(coding)\r\n\r\n2\r\nok\r\n0\r\n\r\n")
            let operation = HTTPDataOperation(get("http://127.0.0.1:\(port)/"), session: .plain())
            queue.addOperation(operation)
            let why = await reason { try await operation.value }
            #expect(why?.text == "undecodableEncoding")
        }
    }

    // MARK: - Request bodies

    /// A body that is longer than the server accepts.
    private struct Endless: AsyncSequence, AsyncIteratorProtocol, Sendable {
        final class Sentinel: Sendable {}

        let sentinel: Sentinel

        func makeAsyncIterator() -> Endless { self }
        /// Produces portions no faster than the event loop sends them. NIO's event loop reads nothing while other work is
        /// pending. Without the pace, the refusal would stay unread for seconds. The sleep sets a pace and waits for no event.
        mutating func next() async -> ByteBuffer? {
            try? await Task.sleep(for: .microseconds(100))
            return ByteBuffer(repeating: 7, count: 64 << 10)
        }
    }

    @Test func `an early refusal by the server releases the source of the request body`() async throws {
        var configuration = HTTPTestServer.Configuration()
        configuration.answersEarly = { _ in true }
        let session = HTTPSession.plain()
        try await withServer({ _ in LoopbackResponse(.contentTooLarge, body: .text("too large")) }, configuration) {
            server in
            let sentinel: Weak
            do {
                let made = Endless.Sentinel()
                sentinel = Weak(made)
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(.put, server.url + "/"),
                    sending: HTTPBodySource(buffers: Endless(sentinel: made)),
                    as: .text, session: session)
                queue.addOperation(operation)
                let why = await reason { try await operation.value }
                #expect(why?.text == "unacceptableStatus")
            }
            await queue.waitUntilAllOperationsAreFinished()
            await server.openConnections(are: 0)
            while !sentinel.isGone { await Task.yield() }
        }
    }

    private func source<Portions>(_ portions: Portions) -> RevocableBody<Portions>.Source {
        .init(portions, length: nil)
    }

    @Test(arguments: [true, false])
    func `a revoked source is released at once, and its reader gets the error after the exchange`(
        isBegun: Bool
    ) async throws {
        let portions = Endless(sentinel: Endless.Sentinel())
        let sentinel = Weak(portions.sentinel)
        let source = source(consume portions)
        if isBegun {
            let first = try await source.next()
            #expect(first?.readableBytes == 64 << 10)
        }
        source.revoke()
        #expect(sentinel.isGone)
        let isTold = Guarded(false)
        let reader = Task {
            defer { isTold.withLock { $0 = true } }
            return try await source.next()
        }
        while !source.isAwaited { await Task.yield() }
        #expect(!isTold.withLock { $0 })
        source.exchangeIsOver()
        let outcome = await result { try await reader.value }
        #expect(throws: CancellationError.self) { try outcome.get() }
    }

    @Test func `a source that is revoked while its reader waits delivers no portion`() async throws {
        let (pieces, maker) = AsyncStream.makeStream(of: ByteBuffer.self)
        let asked = AsyncGate()
        let source = source(
            pieces.map { @Sendable portion in
                await asked.pass()
                return portion
            })
        let reader = Task { try await source.next() }
        maker.yield(ByteBuffer(bytes: [1]))
        source.revoke()
        asked.open()
        source.exchangeIsOver()
        let outcome = await result { try await reader.value }
        #expect(throws: CancellationError.self) { try outcome.get() }
    }

    @Test func `a body ends with its exchange, although the server has not received all of it`() async throws {
        let portions = Endless(sentinel: Endless.Sentinel())
        let sentinel = Weak(portions.sentinel)
        let source = source(consume portions)
        _ = try await source.next()
        source.exchangeIsOver()
        #expect(sentinel.isGone)
        await #expect(throws: CancellationError.self) { _ = try await source.next() }
    }

    @Test func `a body that was sent completely ends normally after its exchange`() async throws {
        let pieces = AsyncStream<ByteBuffer> { continuation in
            continuation.yield(ByteBuffer(bytes: [1, 2, 3]))
            continuation.finish()
        }
        let source = RevocableBody<AsyncStream<ByteBuffer>>.Source(pieces, length: 3)
        _ = try await source.next()
        source.exchangeIsOver()
        let end = try await source.next()
        #expect(end == nil)
    }
}
