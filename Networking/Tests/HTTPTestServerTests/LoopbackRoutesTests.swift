#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import AsyncHTTPClient
import HTTPTypes
import HTTPTestServer
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import Testing

@Suite struct LoopbackRoutesTests {
    static func with(
        _ routes: LoopbackRoutes, redirects: HTTPClient.Configuration.RedirectConfiguration? = nil,
        decompression: HTTPClient.Decompression = .disabled,
        _ body: (HTTPTestServer, HTTPClient) async throws -> Void
    ) async throws {
        let server = try await HTTPTestServer.start(routes: routes)
        try await TrustingClient.with(server, redirects: redirects, decompression: decompression) { client in
            try await body(server, client)
        }
        await server.stop()
    }

    @Test func `the first matching route answers, and an unknown path is not found`() async throws {
        let routes: LoopbackRoutes =
            [.always("/a", .text("1")), .always("/a", .text("2")), .always("/b/*", .text("3"))]
            + [.always("/c", .text("4")).with(.truncates(after: 0))]
        try await Self.with(routes) { server, client in
            for (path, text) in [("/a", "1"), ("/a?x", "1"), ("/b/", "3"), ("/b/c", "3")] {
                let found = try await client.get(server.url + path).text
                #expect(found == text)
            }
            let status = try await client.get(server.url + "/b").status
            #expect(status == .notFound)
            await #expect(throws: (any Error).self) { try await client.get(server.url + "/c").text }
        }
    }

    @Test func `redirects lead to their configured addresses`() async throws {
        let routes: LoopbackRoutes = [
            .redirectChain("/chain"), .redirectChain("/other", to: "/end", .permanentRedirect),
            .redirectLoop("/loop", length: 3), .always("/end", .text("end")),
            .redirect("/away", to: "http://localhost:1/", .movedPermanently),
        ]
        try await Self.with(routes, redirects: .follow(max: 10, allowCycles: false)) { server, client in
            var text = try await client.get(server.url + "/chain/10").text
            #expect(text == "arrived")
            text = try await client.get(server.url + "/other/3").text
            #expect(text == "end")
            #expect(server.requests.map(\.path).suffix(5) == ["/other/3", "/other/2", "/other/1", "/other/0", "/end"])
            await #expect(throws: HTTPClientError.redirectCycleDetected) {
                try await client.get(server.url + "/loop/0")
            }
            await #expect(throws: HTTPClientError.redirectLimitReached) {
                try await client.get(server.url + "/chain/11")
            }
        }
        try await Self.with(routes) { server, client in
            let response = try await client.get(server.url + "/away")
            #expect(response.status == .movedPermanently)
            #expect(response.headers.first(name: "location") == "http://localhost:1/")
            let status = try await client.get(server.url + "/chain/x").status
            #expect(status == .notFound)
        }
    }

    @Test func `the echo describes the request that the server received`() async throws {
        try await Self.with([.echo("/echo")]) { server, client in
            var request = HTTPClientRequest(url: server.url + "/echo?x")
            request.method = .POST
            request.headers.add(name: "X-Odd", value: "\"quoted\" \\ é")
            request.body = .bytes(ByteBuffer(string: "line\nline"))
            let text = try await client.execute(request, deadline: .distantFuture).text
            let echo = try JSONDecoder().decode(LoopbackEcho.self, from: Data(text.utf8))
            #expect(echo.method == "POST" && echo.target == "/echo?x" && echo.text == "line\nline")
            #expect(echo["x-odd"] == ["\"quoted\" \\ é"] && echo.bodyLength == 9 && echo.connection == 1)
        }
    }

    @Test func `a service is unavailable for the given number of requests`() async throws {
        try await Self.with([.unavailable(times: 2, retryAfter: "3", then: .always("/", .text("now")))]) {
            server, client in
            for _ in 0..<2 {
                let response = try await client.get(server.url + "/")
                #expect(response.status == .serviceUnavailable && response.headers.first(name: "retry-after") == "3")
            }
            let text = try await client.get(server.url + "/").text
            #expect(text == "now")
        }
    }

    @Test func `responses are sent in order, and the last response repeats`() async throws {
        try await Self.with([.inTurn("/", [.text("1"), .text("2")])]) { server, client in
            for expected in ["1", "2", "2"] {
                let text = try await client.get(server.url + "/").text
                #expect(text == expected)
            }
        }
    }

    @Test func `a page contains its images with escaped names`() async throws {
        try await Self.with([.page("/", images: ["a.png", "/b?x=1&y=\"<"])]) { server, client in
            let text = try await client.get(server.url + "/").text
            #expect(text.contains("<img src=\"a.png\" alt=\"\">"))
            #expect(text.contains("<img src=\"/b?x=1&amp;y=&quot;&lt;\" alt=\"\">"))
        }
    }

    @Test func `another implementation inflates the compressed bytes`() async throws {
        let bytes = (0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        let routes: LoopbackRoutes = [
            .encoded("/gzip", LoopbackCompression.gzip(bytes), encoding: "gzip"),
            .encoded("/empty", LoopbackCompression.gzip([]), encoding: "gzip"),
            .encoded("/deflate", LoopbackCompression.zlib(bytes), encoding: "deflate"),
            .encoded("/wrong", LoopbackCompression.gzip(bytes, checksumIsWrong: true), encoding: "gzip"),
        ]
        try await Self.with(routes, decompression: .enabled(limit: .none)) { server, client in
            for (path, expected) in [("/gzip", bytes), ("/empty", []), ("/deflate", bytes)] {
                let body = try await client.get(server.url + path).body.collect(upTo: 1 << 20)
                #expect(Array(body.readableBytesView) == expected, "\(path)")
            }
            await #expect(throws: (any Error).self) { try await client.get(server.url + "/wrong").text }
        }
    }

    @Test(arguments: [1, 2, 258, 259, 260, 1000, 100_000_007] as [Int64])
    func `a bomb inflates to the given number of zeros`(length: Int64) async throws {
        let size = LoopbackCompression.gzipBomb(inflatingTo: length).count
        #expect(Int64(size) < 120 + length / 1000)
        let routes: LoopbackRoutes = [.gzipBomb("/bomb", inflatingTo: length)]
        try await Self.with(routes, decompression: .enabled(limit: .none)) { server, client in
            var received: Int64 = 0
            for try await chunk in try await client.get(server.url + "/bomb").body {
                received += Int64(chunk.readableBytes)
            }
            #expect(received == length)
        }
        try await Self.with(routes, decompression: .enabled(limit: .size(1 << 20))) { server, client in
            if length > 1 << 20 {
                await #expect(throws: (any Error).self) {
                    try await client.get(server.url + "/bomb").body.collect(upTo: .max)
                }
            }
        }
    }
}
