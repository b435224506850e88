import AsyncHTTPClient
@testable import HTTPCore
import HTTPTypes
import InMemoryTracing
import HTTPTestServer
import NIOCore
import NIOHTTP1
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing
import Tracing

/// The exchange, which event loops fill and a task empties.
@Suite(.timeLimit(.minutes(5))) struct ExchangeTests {
    @Test(arguments: [false, true]) func `reading from the server stops while the buffer is full`(
        hasBody: Bool
    ) async throws {
        let bytes = LoopbackBody.pattern(length: 8 << 20)
        try await withClient({ _ in LoopbackResponse(body: bytes) }) { server, client in
            let exchange = self.exchange(with: server)
            try request(server, hasBody: hasBody).begin(exchange, by: client, on: client.eventLoopGroup.any())
            await exchange.untilHead()
            while exchange.waitingBytes < Exchange.capacity { await Task.yield() }
            // Not read yet, so the buffer is full. One read from a socket may exceed the capacity.
            #expect(exchange.waitingBytes < Exchange.capacity + 1 << 20)
            var all: [UInt8] = []
            while let portion = try await next(exchange) {
                all += portion.readableBytesView
                #expect(exchange.waitingBytes < Exchange.capacity + 1 << 20)
            }
            #expect(all == bytes.bytes)
        }
    }

    @Test(arguments: 0..<UInt64(200)) func `cancelling an exchange at any moment ends the wait once`(
        seed: UInt64
    ) async throws {
        var random = SeededRandom(seed: seed)
        let (hasBody, yields, length) = (random.chance(50), random.below(400), Int64(1) << random.below(21))
        try await withClient({ _ in LoopbackResponse(body: LoopbackBody.pattern(length: length)) }) { server, client in
            let exchange = self.exchange(with: server)
            try request(server, hasBody: hasBody).begin(exchange, by: client, on: client.eventLoopGroup.any())
            let reader = Task {
                await exchange.untilHead()
                guard try exchange.head() != nil else { return 0 }
                var count = 0
                while let portion = try await next(exchange) { count += portion.readableBytes }
                return count
            }
            for _ in 0..<yields { await Task.yield() }
            exchange.cancel()
            exchange.cancel()
            switch await reader.result {
            case .success(let count): #expect(count == length)
            case .failure(let error): #expect(error is CancellationError)
            }
        }
    }

    @Test func `an exchange without a waiter is released`() async throws {
        let gate = LoopbackGate()
        try await withClient({ _ in .text("x").with(.stalls(.beforeHead, until: gate)) }) { server, client in
            weak var exchange: Exchange?
            do {
                let body = IncomingBody(self.exchange(with: server))
                exchange = body.exchange
                try request(server, hasBody: false).begin(body.exchange, by: client, on: client.eventLoopGroup.any())
                await gate.reached()
            }
            while exchange != nil { await Task.yield() }
        }
    }

    @Test func `a request's span is a child of the caller's span`() async throws {
        let tracer = InMemoryTracer()
        var configuration = HTTPClient.Configuration()
        configuration.tracing.tracer = tracer
        let server = try await HTTPTestServer.start { _ in .text("x") }
        let client = HTTPClient(configuration: configuration)
        let exchange = self.exchange(with: server)
        try await tracer.withSpan("outer") { _ in
            try request(server, hasBody: false).begin(exchange, by: client, on: client.eventLoopGroup.any())
            await exchange.untilHead()
            while try await next(exchange) != nil {}
        }
        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName).sorted() == ["GET", "outer"])
        #expect(Set(spans.map(\.traceID)).count == 1)
        try await client.shutdown()
        await server.stop()
    }

    private func exchange(with server: HTTPTestServer) -> Exchange {
        let origin = HTTPAddress.Origin(scheme: .http, host: "127.0.0.1", port: server.port)
        return Exchange(with: origin, in: ConnectionLine(connections: 1))
    }

    private func request(_ server: HTTPTestServer, hasBody: Bool) -> OutgoingRequest {
        OutgoingRequest(
            HTTPAddress(server.url)!, method: hasBody ? .POST : .GET, headers: [:],
            body: hasBody ? .bytes(ByteBuffer(string: "a body")) : nil)
    }

    private func next(_ exchange: Exchange) async throws -> ByteBuffer? {
        while true {
            switch try exchange.next() {
            case .bytes(let bytes): return bytes
            case .end: return nil
            case .later: await exchange.untilMore()
            }
        }
    }

    private func withClient(
        _ handler: @escaping HTTPTestServer.Handler, _ body: (HTTPTestServer, HTTPClient) async throws -> Void
    ) async throws {
        try await withServer(handler) { server in
            let client = HTTPClient()
            let outcome = await result { try await body(server, client) }
            try await client.shutdown()
            try outcome.get()
        }
    }
}
