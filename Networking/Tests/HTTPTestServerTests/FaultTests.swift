import HTTPTypes
import HTTPTestServer
import TestSupport
import Testing

/// Tests of the bytes that each fault produces.
@Suite struct FaultTests {
    static let get = "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"

    static func served(_ response: LoopbackResponse) async throws -> RawClient.Log {
        try await HTTPTestServer.with(handler: { _ in response }) { server in
            try await RawClient.exchange(get, port: server.port)
        }
    }

    static let digits = LoopbackResponse(body: .text("0123456789"))

    @Test func `without a fault the bytes are those of a plain response`() async throws {
        let log = try await Self.served(.text("hello"))
        #expect(
            log.text == """
                HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 5\r\n\
                Connection: close\r\n\r\nhello
                """)
        #expect(log.ending == .closed)
    }

    @Test func `a chunked body has sizes and an end mark, and a body until the close has neither`() async throws {
        var response = Self.digits
        response.framing = .chunked
        var log = try await Self.served(response)
        #expect(
            log.text.hasSuffix("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\na\r\n0123456789\r\n0\r\n\r\n"))
        response.framing = .untilClose
        log = try await Self.served(response)
        #expect(log.text == "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n0123456789")
    }

    @Test(arguments: [
        (LoopbackResponse.Point.beforeHead, ""), (.afterHead, "\r\n\r\n"), (.afterBody(0), "\r\n\r\n"),
        (.afterBody(4), "\r\n\r\n0123"), (.afterBody(10), "\r\n\r\n0123456789"), (.afterBody(99), "\r\n\r\n0123456789"),
    ])
    func `a closed connection ends in order after the given number of bytes`(
        point: LoopbackResponse.Point, end: String
    ) async throws {
        for fault in [LoopbackResponse.Fault.closes(point), .hangsUp(point)] {
            let log = try await Self.served(Self.digits.with(fault))
            #expect(log.text.hasSuffix(end), "\(fault)")
            #expect(log.text.isEmpty == end.isEmpty, "\(fault)")
            #expect(log.ending == .closed, "\(fault)")
        }
    }

    @Test(arguments: [
        (LoopbackResponse.Point.beforeHead, ""), (.afterHead, "\r\n\r\n"), (.afterBody(4), "\r\n\r\n0123"),
    ])
    func `a reset follows the sent bytes`(point: LoopbackResponse.Point, end: String) async throws {
        // The client reads before the reset arrives, because a reset can overtake unread bytes.
        let gate = LoopbackGate()
        let response = Self.digits.with(.stalls(point, until: gate), .resets(point))
        try await HTTPTestServer.with(handler: { _ in response }) { server in
            let client = try await RawClient.connect(to: server.port)
            try await client.send(Self.get)
            await gate.reached()
            if !end.isEmpty {
                await client.received(
                    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\nConnection: close".utf8.count + end.utf8.count)
            }
            #expect(client.text.hasSuffix(end))
            gate.open()
            let log = await client.everything()
            #expect(log.ending == .reset)
            await server.openConnections(are: 0)
        }
    }

    @Test func `a false length is announced, and the connection closes after the body`() async throws {
        for length in [0, 4, 25] as [Int64] {
            let log = try await Self.served(Self.digits.with(.announces(length: length)))
            #expect(log.text.contains("\r\nContent-Length: \(length)\r\n"))
            #expect(log.text.hasSuffix("\r\n\r\n0123456789"))
            #expect(log.ending == .closed)
        }
    }

    @Test func `malformed parts appear at their configured positions`() async throws {
        var log = try await Self.served(Self.digits.with(.malformedStatus))
        #expect(log.text.hasPrefix("HTTP/one point one OK"))
        log = try await Self.served(Self.digits.with(.malformedField))
        #expect(log.bytes.contains(0))
        log = try await Self.served(Self.digits.with(.conflictingLengths))
        #expect(log.text.contains("Content-Length: 10\r\nContent-Length: 11\r\n"))
        log = try await Self.served(Self.digits.with(.oversizedField(bytes: 100_000)))
        #expect(log.bytes.count > 100_000)
        var chunked = Self.digits
        chunked.framing = .chunked
        log = try await Self.served(chunked.with(.malformedChunk(after: 3)))
        #expect(log.text.hasSuffix("\r\n\r\n3\r\n012\r\nfive\r\nbytes\r\n"))
        #expect(log.ending == .closed)
    }

    @Test func `interim responses come before the head, in their order`() async throws {
        let response = Self.digits.with(
            .interim(HTTPResponse(status: .earlyHints, headerFields: [HTTPField.Name("Link")!: "</a.css>"])),
            .interim(HTTPResponse(status: .init(code: 102, reasonPhrase: "Processing"))))
        let log = try await Self.served(response)
        #expect(
            log.text.hasPrefix(
                "HTTP/1.1 103 Early Hints\r\nLink: </a.css>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 200 OK"))
    }

    @Test func `faults occur in the order of their positions`() async throws {
        let first = LoopbackGate(), second = LoopbackGate()
        let response = Self.digits.with(
            .truncates(after: 6), .stalls(.afterBody(4), until: second), .stalls(.beforeHead, until: first))
        try await HTTPTestServer.with(handler: { _ in response }) { server in
            let client = try await RawClient.connect(to: server.port)
            try await client.send(Self.get)
            await first.reached()
            #expect(client.text == "" && second.arrivals == 0)
            first.open()
            await second.reached()
            #expect(server.bodyBytesWritten == 4)
            second.open()
            let log = await client.everything()
            #expect(log.text.hasSuffix("\r\n\r\n012345"))
        }
    }

    @Test func `a stall ends with the connection`() async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(handler: { _ in Self.digits.with(.stalls(.afterBody(4), until: gate)) }) {
            server in
            let client = try await RawClient.connect(to: server.port)
            try await client.send(Self.get)
            await gate.reached()
            #expect(gate.waiting == 1 && server.requestsInFlight == 1)
            try await client.close()
            await gate.deserted()
            await server.requestsInFlight(are: 0)
            await server.openConnections(are: 0)
            #expect(server.bodyBytesWritten == 4 && !gate.isOpen)
        }
    }

    @Test func `portions arrive at the configured intervals`() async throws {
        let interval = Duration.milliseconds(20)
        let clock = ContinuousClock()
        let start = clock.now
        let log = try await Self.served(Self.digits.with(.paces(bytes: 2, every: interval)))
        #expect(log.text.hasSuffix("0123456789"))
        #expect(clock.now - start >= interval * 4)
    }

    @Test func `a response that goes away announces the close and closes the connection`() async throws {
        try await HTTPTestServer.with(handler: { _ in Self.digits.with(.goesAway) }) { server in
            let log = try await RawClient.exchange("GET / HTTP/1.1\r\nHost: a\r\n\r\n", port: server.port)
            #expect(log.text.contains("Connection: close"))
            #expect(log.ending == .closed)
        }
    }

    @Test(arguments: HTTPTestServer.Configuration.TransportProtocol.allCases)
    func `a fatal fault is an error for a correct client, and leaves no state`(
        kind: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        for fault in LoopbackResponse.Fault.fatal(bodyLength: 10) {
            for framing in [LoopbackResponse.Framing.contentLength, .chunked] {
                var response = Self.digits.with(fault)
                response.framing = framing
                try await HTTPTestServer.with(.init(protocol: kind), handler: { [response] _ in response }) { server in
                    try await TrustingClient.with(server) { client in
                        await #expect(throws: (any Error).self, "\(fault), \(framing)") {
                            try await client.get(server.url).text
                        }
                    }
                    await server.openConnections(are: 0)
                    await server.requestsInFlight(are: 0)
                }
            }
        }
    }
}
