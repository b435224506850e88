import Operations
import Testing

@testable import OperationsDashboard

/// Hostile clients, over a real socket.
@Suite struct AttackTests {
    private func isAlive(_ port: Int) -> Bool { get("/api/state", port).status == 200 }

    @Test func `each wrong request gets its status, and the server lives on`() async throws {
        try await withDashboard { _, port in
            let host = "Host: 127.0.0.1:\(port)\r\n"
            let attacks: [(String, Int)] = [
                ("GET / HTTP/1.1\r\n\(host)\r\n", 403), ("GET /?token=wrong HTTP/1.1\r\n\(host)\r\n", 403),
                ("GET /?token=secret HTTP/1.1\r\nHost: evil.example\r\n\r\n", 421),
                ("GET /?token=secret HTTP/1.1\r\n\r\n", 421),
                ("HEAD /?token=secret HTTP/1.1\r\n\(host)\r\n", 405),
                ("DELETE /api/steer HTTP/1.1\r\n\(host)\r\n", 405), ("BREW / HTTP/1.1\r\n\(host)\r\n", 405),
                ("\u{16}\u{3}\u{1}\u{2}\r\n\r\n", 400), ("GET / HTTP/9.9\r\n\r\n", 505),
                ("POST /api/steer HTTP/1.1\r\n\(host)Content-Length: 99999999999\r\n\r\n", 413),
                ("POST /api/steer HTTP/1.1\r\n\(host)Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 501),
                (head("/api/state", port, "Origin: http://evil.example\r\n"), 403),
                (head("/api/operation?source=s0&id=zzz", port), 400), (head("/api/graph?source=nope", port), 404),
                (head("/%2e%2e/%2e%2e/etc/passwd", port), 404),
            ]
            for (bytes, status) in attacks {
                let client = RawClient(port: port)
                client.send(bytes)
                #expect(client.response()?.status == status, "\(bytes)")
            }
            #expect(isAlive(port))
        }
    }

    @Test func `a request of 10 MB is refused before it has arrived`() async throws {
        try await withDashboard { _, port in
            let client = RawClient(port: port)
            client.send(Array("GET /".utf8) + [UInt8](repeating: UInt8(ascii: "a"), count: 10_000_000))
            #expect(client.response()?.status == 431)
            #expect(isAlive(port))
        }
    }

    @Test func `200 clients that send half a request leave place for a page`() async throws {
        try await withDashboard { _, port in
            let slow = (0..<200).map { _ in RawClient(port: port) }
            for client in slow { client.send("GET / HTTP/1.1\r\nHost: 127") }
            #expect(isAlive(port))
            withExtendedLifetime(slow) {}
        }
    }

    @Test func `pages that read nothing get no further frames, and others do`() async throws {
        let queue = OperationQueue(name: String(repeating: "name ", count: 2_000_000))
        try await withDashboard(.init(), [queue]) { _, port in
            let asleep = (0..<60).map { _ in RawClient(port: port, receiveBuffer: 4096) }
            for client in asleep { client.send(head("/api/events", port)) }
            let awake = RawClient(port: port)
            awake.send(head("/api/events", port))
            for _ in 0..<3 { #expect(frame(with: #""kind":"queue""#, awake) != nil) }
            withExtendedLifetime(asleep) {}
        }
    }

    @Test func `names of 10 MB, of tags and of control characters are short text`() async throws {
        let queue = OperationQueue(name: "hostile", maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let names = [
            String(repeating: "long ", count: 2_000_000), "</script><script>alert(1)</script>", "a\u{0}b\u{1B}[2J\r\n",
            "e" + String(repeating: "\u{301}", count: 1_000_000),
        ]
        let longest = names.map { queue.addOperation(name: $0) {} }[0].eventID
        try await withDashboard(.init(), [queue]) { _, port in
            for target in ["operations", "graph", "timeline"] {
                let body = get("/api/\(target)?source=s0", port).body
                // Outside of the expectations, which would describe each byte of a long body.
                let (length, hasMarkup) = (body.utf8.count, body.utf8.contains { $0 < 32 || $0 == UInt8(ascii: "<") })
                #expect(length < 40_000 && !hasMarkup, "\(target)")
            }
            let detail = get("/api/operation?source=s0&id=\(longest)", port)
            #expect(detail.status == 200 && detail.body.utf8.count < 20_000)
        }
        queue.cancelAllOperations()
        queue.isSuspended = false
    }

    @Test func `a client that vanishes in the middle of anything is forgotten`() async throws {
        try await withDashboard { _, port in
            for length in [0, 1, 20, 60] {
                let client = RawClient(port: port)
                client.send(String(head("/api/state", port).prefix(length)))
            }
            let stream = RawClient(port: port)
            stream.send(head("/api/events", port))
            _ = stream.receive()
            #expect(isAlive(port))
        }
    }
}
