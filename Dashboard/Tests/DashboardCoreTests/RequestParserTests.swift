import Testing

@testable import DashboardCore

@Suite struct RequestParserTests {
    private func steps(_ text: String, each size: Int = .max) -> RequestParser.Step {
        var parser = RequestParser()
        var rest = Array(text.utf8)[...]
        while !rest.isEmpty {
            parser.add(rest.prefix(size))
            rest = rest.dropFirst(size)
            let step = parser.next()
            if step != .needsMore { return step }
        }
        return parser.next()
    }

    @Test func `a request is the same however its bytes are cut`() {
        let text = "POST /a?b=c HTTP/1.1\r\nHost: x\r\nX-Y:  two words \r\nContent-Length: 5\r\n\r\nhello"
        let expected = RequestParser.Step.request(
            HTTPRequest(
                method: "POST", path: "/a", query: "b=c",
                fields: ["host": "x", "x-y": "two words", "content-length": "5"], body: Array("hello".utf8)))
        for size in [1, 2, 3, 7, 1000] { #expect(steps(text, each: size) == expected) }
    }

    @Test func `two requests that arrive together are two requests`() {
        var parser = RequestParser()
        parser.add(Array("GET /1 HTTP/1.1\r\nHost: a\r\n\r\nGET /2 HTTP/1.0\r\n\r\n".utf8))
        guard case .request(let first) = parser.next(), case .request(let second) = parser.next() else {
            return #expect(Bool(false))
        }
        #expect(first.path == "/1" && first.keepsAlive && second.path == "/2" && !second.keepsAlive)
        #expect(parser.next() == .needsMore && parser.count == 0)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\nHost: x\n\n\r\n\r\n", HTTPStatus.badRequest), ("GET  / HTTP/1.1\r\n\r\n", .badRequest),
        ("GET http://x/ HTTP/1.1\r\n\r\n", .badRequest), ("/ HTTP/1.1\r\n\r\n", .badRequest),
        ("GET / HTTP/2.0\r\n\r\n", .versionNotSupported), ("GET / HTTP/1.1\r\nA : b\r\n\r\n", .badRequest),
        ("GET / HTTP/1.1\r\n folded\r\n\r\n", .badRequest), ("GET / HTTP/1.1\r\nA: \u{0}\r\n\r\n", .badRequest),
        ("GET / HTTP/1.1\r\nA: b\rc\r\n\r\n", .badRequest), ("GET /\u{7F} HTTP/1.1\r\n\r\n", .badRequest),
        ("GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", .badRequest),
        ("POST / HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", .badRequest),
        ("POST / HTTP/1.1\r\nContent-Length: -1\r\n\r\n", .badRequest),
        ("POST / HTTP/1.1\r\nContent-Length: +1\r\n\r\n", .badRequest),
        ("POST / HTTP/1.1\r\nContent-Length: 65537\r\n\r\n", .contentTooLarge),
        ("POST / HTTP/1.1\r\nContent-Length: 99999999999999999999\r\n\r\n", .contentTooLarge),
        ("POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n", .notImplemented),
        ("POST / HTTP/1.1\r\nExpect: 100-continue\r\n\r\n", .expectationFailed),
    ])
    func `a doubtful request is rejected`(_ text: String, _ status: HTTPStatus) {
        #expect(steps(text) == .reject(status))
    }

    @Test func `a head of more than 16 KB or 64 fields is rejected, and no more is held`() {
        var parser = RequestParser()
        parser.add(Array("GET /".utf8))
        var step = RequestParser.Step.needsMore
        while step == .needsMore {
            parser.add(repeatElement(UInt8(ascii: "a"), count: 1000))
            step = parser.next()
        }
        #expect(step == .reject(.fieldsTooLarge) && parser.count <= RequestParser.headLimit + 1000)
        let fields = (0...RequestParser.fieldLimit).map { "f\($0): x\r\n" }.joined()
        #expect(steps("GET / HTTP/1.1\r\n\(fields)\r\n") == .reject(.fieldsTooLarge))
    }
}
