import Foundation
import HTTPCaching
import HTTPTypes
import Testing

@Suite struct StoredResponseTests {
    @Test func `fields of the connection are not stored`() {
        let response = stored(
            200, "Connection: close, X-Hop", "X-Hop: 1", "Keep-Alive: 5", "Transfer-Encoding: chunked", "Upgrade: h2c",
            "Proxy-Authenticate: Basic", "Trailer: X-T", "X-End: 2", "Cache-Control: max-age=5", "Set-Cookie: a=b",
            "Set-Cookie: c=d")
        #expect(
            response.response.headerFields.map(\.name.canonicalName) == [
                "x-end", "cache-control", "set-cookie", "set-cookie",
            ])
    }

    @Test(
        arguments: [
            ([], []),
            (["ETag: \"a\""], ["If-None-Match: \"a\""]),
            (
                ["ETag: W/\"a\"", "Last-Modified: \(httpDate(-9))"],
                ["If-None-Match: W/\"a\"", "If-Modified-Since: \(httpDate(-9))"]
            ),
            (["Last-Modified: Sunday, 06-Nov-94 08:49:37 GMT"], ["If-Modified-Since: Sunday, 06-Nov-94 08:49:37 GMT"]),
            (["Last-Modified: lately", "ETag: "], []),
        ] as [([String], [String])])
    func `a revalidation sends the validators of the response unchanged`(lines: [String], conditions: [String]) {
        let response = StoredResponse(answer(200, lines), requestTime: origin, responseTime: origin)
        #expect(response.conditions == fields(conditions))
    }

    @Test func `a 304 replaces its headers, keeps other headers and headers of the body, and refreshes the response`()
        throws
    {
        let old = stored(
            200, "ETag: \"a\"", "Date: \(httpDate(-100))", "Age: 50", "Cache-Control: max-age=5", "Content-Length: 4",
            "Content-Type: text/plain", "Content-Encoding: gzip", "X-Old: 1", "X-Both: old", "X-Both: older")
        let update = answer(
            304, "ETag: \"a\"", "Date: \(httpDate(60))", "Cache-Control: max-age=9", "Content-Length: 0",
            "Content-Type: text/html", "Content-Encoding: br", "X-Both: new", "X-New: 2", "Connection: X-Hop",
            "X-Hop: 3")
        let new = try #require(old.validated(by: update, requestTime: at(59), responseTime: at(60)))
        let head = new.response.headerFields
        #expect(new.response.status.code == 200 && new.requestTime == at(59) && new.responseTime == at(60))
        #expect(head[.eTag] == "\"a\"" && head[.date] == httpDate(60) && head[.cacheControl] == "max-age=9")
        #expect(head[.contentLength] == "4" && head[.contentType] == "text/plain" && head[.contentEncoding] == "gzip")
        #expect(head[fields: .init("X-Both")!].map(\.value) == ["new"] && head[.init("X-Old")!] == "1")
        #expect(head[.init("X-New")!] == "2" && !head.contains(.age) && !head.contains(.init("X-Hop")!))
        #expect(Freshness(of: new, at: at(60)) == Freshness(of: new, at: at(60)))
        #expect(Freshness.age(of: new, at: at(62)) == 3 && Freshness(of: new, at: at(62)).isFresh)
    }

    /// nginx compresses a response itself and weakens its tag, but its 304 has the tag of the file, and no `Vary`.
    @Test(arguments: [("W/\"a\"", "\"a\""), ("\"a\"", "W/\"a\""), ("W/\"a\"", "W/\"a\"")])
    func `a 304 changes neither the strength of the tag nor fields about the stored body`(old: String, update: String)
        throws
    {
        let describing = [
            "Content-Type: text/plain", "Content-Length: 4", "Content-Encoding: gzip", "Content-Range: bytes 0-3/4",
            "Content-MD5: x", "Content-Digest: x", "Repr-Digest: x", "Digest: x",
        ]
        let stored = StoredResponse(
            answer(200, ["ETag: \(old)", "Vary: Accept-Encoding"] + describing), requestTime: origin,
            responseTime: origin)
        let changed = describing.map { $0.replacing(/: .*/, with: ": 9") }
        let new = try #require(
            stored.validated(
                by: answer(304, ["ETag: \(update)", "X-New: 1"] + changed), requestTime: origin, responseTime: at(1)))
        let head = new.response.headerFields
        #expect(head[.eTag] == old && head[.vary] == "Accept-Encoding" && head[.init("X-New")!] == "1")
        for field in fields(describing) { #expect(head[field.name] == field.value) }
        #expect(new.conditions == fields("If-None-Match: \(old)"))
    }

    @Test(
        arguments: [
            ([], ["Accept"]), (["Vary: accept-encoding"], ["Accept"]), (["Vary: Origin"], ["Accept", "Origin"]),
            (["Vary: *"], ["Accept", "*"]),
        ] as [([String], [String])])
    func `a 304 can only add to the fields by which a response varies`(update: [String], names: [String]) throws {
        let old = stored(200, "ETag: \"a\"", "Vary: Accept, Accept-Encoding")
        let new = try #require(old.validated(by: answer(304, update), requestTime: origin, responseTime: origin))
        let expected = fields(["Vary: Accept-Encoding"] + names.map { "Vary: \($0)" })
        #expect(Variance(of: new.response.headerFields) == Variance(of: expected))
    }

    @Test func `a field that must not be reused is delivered once, and is not stored`() throws {
        let old = stored(
            200, "ETag: \"a\"", "Cache-Control: no-cache=\"set-cookie, X-B\"", "Set-Cookie: a=1", "Set-Cookie: b=1",
            "X-B: 1", "X-C: 1")
        #expect(old.response.headerFields[values: .setCookie] == [] && old.response.headerFields[.init("X-C")!] == "1")
        let update = answer(304, "ETag: \"a\"", "Set-Cookie: a=2")
        let new = try #require(old.validated(by: update, requestTime: origin, responseTime: origin))
        #expect(new.response.headerFields[.setCookie] == "a=2" && !new.response.headerFields.contains(.init("X-B")!))
        #expect(!new.storable.response.headerFields.contains(.setCookie))
    }

    @Test func `a 304 can forbid the reuse of a field that is stored already`() throws {
        let old = stored(200, "ETag: \"a\"", "Cache-Control: max-age=5", "Set-Cookie: a=1")
        let update = answer(304, "Cache-Control: max-age=5, no-cache=\"Set-Cookie\"")
        let new = try #require(old.validated(by: update, requestTime: origin, responseTime: origin))
        #expect(old.response.headerFields.contains(.setCookie) && !new.response.headerFields.contains(.setCookie))
    }

    @Test func `a 304 without Date counts from its arrival`() throws {
        let old = stored(200, "ETag: \"a\"", "Date: \(httpDate(-500))", "Cache-Control: max-age=5")
        let new = try #require(old.validated(by: answer(304), requestTime: at(60), responseTime: at(60)))
        #expect(Freshness.age(of: new, at: at(60)) == 0)
    }

    @Test(
        arguments: [
            (["ETag: \"a\""], [], true), (["ETag: \"a\""], ["ETag: \"a\""], true),
            (["ETag: \"a\""], ["ETag: \"b\""], false),
            (["ETag: W/\"a\""], ["ETag: \"a\""], true), ([], ["ETag: \"b\""], false), ([], [], true),
            (["Last-Modified: \(httpDate(-9))"], ["Last-Modified: \(httpDate(-8))"], false),
            (["Last-Modified: \(httpDate(-9))"], ["Last-Modified: \(httpDate(-9))"], true),
            (
                ["ETag: \"a\"", "Last-Modified: \(httpDate(-9))"], ["ETag: \"a\"", "Last-Modified: \(httpDate(-8))"],
                true
            ),
        ] as [([String], [String], Bool)])
    func `a 304 about another representation validates nothing`(old: [String], update: [String], isValid: Bool) {
        let old = StoredResponse(answer(200, old), requestTime: origin, responseTime: origin)
        let new = old.validated(by: answer(304, update), requestTime: origin, responseTime: origin)
        #expect((new != nil) == isValid)
    }

    @Test(
        arguments: [
            (["ETag: \"a\"", "Content-Length: 4"], true), (["ETag: \"b\""], false), (["Content-Length: 5"], false),
            (["Last-Modified: \(httpDate(-8))"], false), ([], true),
        ] as [([String], Bool)])
    func `a response to HEAD confirms the stored response, or shows that it is out of date`(
        lines: [String], isCurrent: Bool
    ) {
        let old = stored(200, "ETag: \"a\"", "Content-Length: 4", "Last-Modified: \(httpDate(-9))")
        let new = old.freshened(byHead: answer(200, lines), requestTime: at(5), responseTime: at(5))
        #expect((new != nil) == isCurrent)
    }

    @Test(
        arguments: [
            (["ETag: \"a\"", "Content-Length: 4"], true), (["ETag: \"b\"", "Content-Length: 4"], false),
            (["Content-Length: 4"], false), (["ETag: \"a\""], true),
        ] as [([String], Bool)])
    func `a length in the response to HEAD counts against no response without a length`(
        lines: [String], isCurrent: Bool
    ) {
        let old = stored(200, "ETag: \"a\"")
        let new = old.freshened(byHead: answer(200, lines), requestTime: at(5), responseTime: at(5))
        #expect((new != nil) == isCurrent)
    }
}
