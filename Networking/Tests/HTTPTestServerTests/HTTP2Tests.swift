import AsyncHTTPClient
import HTTPTypes
import HTTPTestServer
import NIOCore
import NIOHTTP1
import Testing

@Suite struct HTTP2Tests {
    static let digits = LoopbackResponse(fields: [.connection: "close"], body: .text("0123456789"))

    /// Runs a test with a server that has a fault at `/fault` only.
    static func with(
        _ fault: LoopbackResponse.Fault, _ body: (HTTPTestServer, HTTPClient) async throws -> Void
    ) async throws {
        try await HTTPTestServer.with(
            .init(protocol: .http2), handler: { $0.path == "/fault" ? digits.with(fault) : digits }
        ) { server in
            try await TrustingClient.with(server) { client in
                let text = try await client.get(server.url + "/").text
                #expect(text == "0123456789")
                try await body(server, client)
            }
            await server.openConnections(are: 0)
            await server.requestsInFlight(are: 0)
        }
    }

    @Test func `requests share a connection and have their fields and bodies`() async throws {
        try await HTTPTestServer.with(.init(protocol: .http2), handler: { .text("\($0.bodyLength)") }) { server in
            try await TrustingClient.with(server) { client in
                var request = HTTPClientRequest(url: server.url + "/up?a=b")
                request.method = .PUT
                request.headers.add(name: "X-Odd", value: "one")
                request.body = .bytes(ByteBuffer(repeating: 7, count: 300_000))
                for _ in 0..<2 {
                    let text = try await client.execute(request, deadline: .distantFuture).text
                    #expect(text == "300000")
                }
            }
            let request = try #require(server.requests.last)
            #expect(request.version == .http2 && request.method == .put && request.target == "/up?a=b")
            #expect(request.fields[HTTPField.Name("X-Odd")!] == "one" && request.body.count == 300_000)
            #expect(request.authority == "127.0.0.1:\(server.port)")
            #expect(request.connection == 1 && request.number == 2 && server.connectionsEver == 1)
        }
    }

    @Test(arguments: [
        LoopbackResponse.Fault.resets(.beforeHead), .resets(.afterHead), .resets(.afterBody(3)),
    ])
    func `a reset ends the stream and leaves the connection`(fault: LoopbackResponse.Fault) async throws {
        try await Self.with(fault) { server, client in
            await #expect(throws: (any Error).self) { try await client.get(server.url + "/fault").text }
            let text = try await client.get(server.url + "/").text
            #expect(text == "0123456789" && server.connectionsEver == 1)
        }
    }

    @Test(arguments: [
        LoopbackResponse.Fault.closes(.beforeHead), .closes(.afterHead), .closes(.afterBody(3)),
        .hangsUp(.afterBody(3)),
        .resetsConnection(.afterBody(3)), .malformedChunk(after: 3), .malformedStatus, .malformedField,
        .announces(length: 20), .announces(length: 5), .conflictingLengths,
    ])
    func `a fault is an error for the client, and the next request is served`(
        fault: LoopbackResponse.Fault
    ) async throws {
        try await Self.with(fault) { server, client in
            await #expect(throws: (any Error).self) { try await client.get(server.url + "/fault").text }
            // The client may use the closing connection once more before it detects the end.
            var text = try? await client.get(server.url + "/").text
            if text == nil { text = try await client.get(server.url + "/").text }
            #expect(text == "0123456789")
        }
    }

    @Test func `after a GOAWAY the stream finishes, and the next request has another connection`()
        async throws
    {
        try await Self.with(.goesAway) { server, client in
            var text = try await client.get(server.url + "/fault").text
            #expect(text == "0123456789" && server.connectionsEver == 1)
            text = try await client.get(server.url + "/").text
            #expect(text == "0123456789" && server.connectionsEver == 2)
        }
    }

    @Test func `a stall ends with the stream`() async throws {
        let gate = LoopbackGate()
        try await Self.with(.stalls(.afterBody(3), until: gate)) { server, client in
            let task = Task { try await client.get(server.url + "/fault").text }
            await gate.reached()
            // The count excludes the first request. The server records the end of that request after the client has
            // received it.
            await server.requestsInFlight(are: 1)
            task.cancel()
            _ = await task.result
            await gate.deserted()
            await server.requestsInFlight(are: 0)
            #expect(server.openConnections == 1)
        }
    }

    @Test func `interim responses and large fields pass`() async throws {
        for fault in [
            LoopbackResponse.Fault.interim(HTTPResponse(status: .earlyHints)), .oversizedField(bytes: 10_000),
            .paces(bytes: 5, every: .milliseconds(1)),
        ] {
            try await Self.with(fault) { server, client in
                let text = try await client.get(server.url + "/fault").text
                #expect(text == "0123456789", "\(fault)")
            }
        }
    }

    @Test func `many streams run concurrently`() async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(
            .init(protocol: .http2),
            handler: { _ in
                Self.digits.with(.stalls(.afterHead, until: gate))
            }
        ) { server in
            try await TrustingClient.with(server) { client in
                try await withThrowingTaskGroup(of: String.self) { group in
                    for _ in 0..<50 { group.addTask { try await client.get(server.url).text } }
                    await gate.reached(50)
                    #expect(server.requestsInFlight == 50)
                    gate.open()
                    for try await text in group { #expect(text == "0123456789") }
                }
            }
            #expect(server.peakRequestsInFlight == 50)
        }
    }
}
