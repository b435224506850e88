import HTTPTypes
import HTTPTestServer
import TestSupport
import Testing

/// Tests of reading requests, counting and closing connections over plain HTTP/1.1.
@Suite struct ConnectionTests {
    static func request(_ target: String, _ more: String = "") -> String {
        "GET \(target) HTTP/1.1\r\nHost: a\r\n\(more)\r\n"
    }

    @Test func `a request contains everything that the client sent`() async throws {
        try await HTTPTestServer.with(handler: { _ in .text("") }) { server in
            let log = try await RawClient.exchange(
                """
                PUT /a%20b?x=1&y&z=%20 HTTP/1.1\r\nHost: example\r\nX-Odd: one\r\nX-Odd: two\r\n\
                Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n
                """, port: server.port)
            #expect(log.text.hasPrefix("HTTP/1.1 200 OK\r\n"))
            let request = try #require(server.requests.first)
            #expect(request.method == .put && request.authority == "example" && request.version == .http1)
            #expect(request.path == "/a%20b" && request.query == "x=1&y&z=%20")
            #expect(request.queryItem("x") == "1" && request.queryItem("y") == "" && request.queryItem("w") == nil)
            #expect(request.fields[values: HTTPField.Name("x-odd")!] == ["one", "two"])
            #expect(request.body == Array("abcde".utf8) && request.bodyLength == 5)
            #expect(request.bodySHA256 == "36bbe50ed96841d10443bcb670d6554f0a34b761be67ec9c4a8ad2c0c44ca42c")
            #expect(request.connection == 1 && request.number == 1)
        }
    }

    @Test func `requests sent together are answered in order on one connection`() async throws {
        try await HTTPTestServer.with(handler: { .text($0.path) }) { server in
            let log = try await RawClient.exchange(
                Self.request("/a") + Self.request("/b") + Self.request("/c", "Connection: close\r\n"), port: server.port
            )
            let bodies = log.text.split(separator: "HTTP/1.1 ").map { $0.suffix(2) }
            #expect(bodies == ["/a", "/b", "/c"])
            _ = try await RawClient.exchange(Self.request("/d", "Connection: close\r\n"), port: server.port)
            #expect(server.requests.map(\.connection) == [1, 1, 1, 2])
            #expect(server.requests.map(\.number) == [1, 2, 3, 4])
            #expect(server.connectionsEver == 2 && server.peakRequestsInFlight >= 1)
            await server.openConnections(are: 0)
            await server.requestsInFlight(are: 0)
        }
    }

    @Test func `the peak is the number of requests answered at the same time`() async throws {
        let gate = LoopbackGate()
        try await HTTPTestServer.with(handler: { _ in .text("").with(.stalls(.beforeHead, until: gate)) }) { server in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<5 {
                    group.addTask {
                        _ = try await RawClient.exchange(Self.request("/", "Connection: close\r\n"), port: server.port)
                    }
                }
                await gate.reached(5)
                #expect(server.requestsInFlight == 5 && server.openConnections == 5)
                gate.open()
                try await group.waitForAll()
            }
            await server.requestsInFlight(are: 0)
            #expect(server.peakRequestsInFlight == 5 && server.requests.count == 5)
        }
    }

    @Test func `responses to HEAD and with status 204 have no body`() async throws {
        try await HTTPTestServer.with(handler: { request in
            LoopbackResponse(request.path == "/204" ? .noContent : .ok, body: .text("body"))
        }) { server in
            let log = try await RawClient.exchange(
                "HEAD / HTTP/1.1\r\nHost: a\r\n\r\n" + Self.request("/204", "Connection: close\r\n"), port: server.port)
            #expect(
                log.text == """
                    HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nHTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n
                    """)
            #expect(server.bodyBytesWritten == 0)
        }
    }

    @Test func `a body above the limit and an invalid request are refused`() async throws {
        var configuration = HTTPTestServer.Configuration()
        configuration.bodyLimit = 10
        try await HTTPTestServer.with(configuration, handler: { _ in .text("") }) { server in
            var log = try await RawClient.exchange(
                Self.request("/", "Content-Length: 11\r\n") + "01234567890", port: server.port)
            #expect(log.text.hasPrefix("HTTP/1.1 413 "))
            log = try await RawClient.exchange("this is not HTTP\r\n\r\n", port: server.port)
            #expect(log.text.hasPrefix("HTTP/1.1 400 "))
            log = try await RawClient.exchange(
                Self.request("/", "Content-Length: 10\r\nConnection: close\r\n") + "0123456789", port: server.port)
            #expect(log.text.hasPrefix("HTTP/1.1 200 "))
            #expect(server.requests.count == 1)
            await server.requestsInFlight(are: 0)
        }
    }

    @Test func `a body that is not kept has a length and a digest`() async throws {
        var configuration = HTTPTestServer.Configuration()
        configuration.keepsBodies = false
        configuration.bodyLimit = 1
        try await HTTPTestServer.with(configuration, handler: { _ in .text("") }) { server in
            _ = try await RawClient.exchange(
                Self.request("/", "Content-Length: 5\r\nConnection: close\r\n") + "abcde", port: server.port)
            let request = try #require(server.requests.first)
            #expect(request.body.isEmpty && request.bodyLength == 5 && request.bodySHA256.hasPrefix("36bbe50e"))
        }
    }

    @Test func `an early response does not wait for the body`() async throws {
        var configuration = HTTPTestServer.Configuration()
        configuration.answersEarly = { $0.path == "/early" }
        try await HTTPTestServer.with(configuration, handler: { _ in LoopbackResponse(.forbidden) }) { server in
            let log = try await RawClient.exchange(
                Self.request("/early", "Content-Length: 1000\r\n") + "some", port: server.port)
            #expect(log.text.hasPrefix("HTTP/1.1 403 ") && log.text.contains("Connection: close"))
        }
    }

    @Test(arguments: [true, false])
    func `a response to an unread body arrives without a reset before it`(isEarly: Bool) async throws {
        var configuration = HTTPTestServer.Configuration()
        configuration.answersEarly = { _ in isEarly }
        configuration.bodyLimit = 10
        try await HTTPTestServer.with(configuration, handler: { _ in LoopbackResponse(.forbidden) }) { server in
            for _ in 0..<20 {
                let client = try await RawClient.connect(to: server.port)
                // The connection may end while the client still sends, so that the send fails.
                try? await client.send(
                    Self.request("/", "Content-Length: 3000000\r\n") + String(repeating: "x", count: 3_000_000))
                let log = await client.everything()
                #expect(log.text.hasPrefix(isEarly ? "HTTP/1.1 403 " : "HTTP/1.1 413 ") && log.ending == .closed)
            }
            await server.openConnections(are: 0)
            await server.requestsInFlight(are: 0)
        }
    }

    @Test func `a client that disconnects while its body is unread leaves no state`() async throws {
        let gate = LoopbackGate()
        var configuration = HTTPTestServer.Configuration()
        configuration.readsBodyAfter = { _ in gate }
        try await HTTPTestServer.with(configuration, handler: { _ in .text("") }) { server in
            let client = try await RawClient.connect(to: server.port)
            try await client.send(Self.request("/", "Content-Length: 1000\r\n") + "some")
            await gate.reached()
            try await client.close()
            await server.openConnections(are: 0)
            await server.requestsInFlight(are: 0)
            await gate.deserted()
        }
    }

    @Test func `a body is not read before the gate opens`() async throws {
        let gate = LoopbackGate()
        var configuration = HTTPTestServer.Configuration()
        configuration.readsBodyAfter = { _ in gate }
        try await HTTPTestServer.with(configuration, handler: { .text("\($0.bodyLength)") }) { server in
            let client = try await RawClient.connect(to: server.port)
            try await client.send(
                Self.request("/", "Content-Length: 5\r\nExpect: 100-continue\r\nConnection: close\r\n"))
            await client.received("HTTP/1.1 100 Continue\r\n\r\n".utf8.count)
            await gate.reached()
            try await client.send("abcde")
            #expect(server.requests.isEmpty && server.requestsInFlight == 1)
            gate.open()
            let log = await client.everything()
            #expect(log.text.hasSuffix("\r\n\r\n5"))
        }
    }

    @Test func `a client that disconnects in the middle of its request leaves no state`() async throws {
        try await HTTPTestServer.with(handler: { _ in .text("") }) { server in
            let client = try await RawClient.connect(to: server.port)
            try await client.send(Self.request("/", "Content-Length: 1000\r\n") + "some")
            await server.requestsInFlight(are: 1)
            try await client.close()
            await server.openConnections(are: 0)
            await server.requestsInFlight(are: 0)
            #expect(server.requests.isEmpty)
        }
    }
}
