import HTTPCaching
import HTTPTypes
import Testing

@Suite struct StorabilityTests {
    @Test(
        arguments: [
            (200, [], .store),
            (200, ["Cache-Control: max-age=5"], .store),
            (200, ["Cache-Control: private"], .store),
            (200, ["Cache-Control: no-cache"], .store),
            (200, ["Cache-Control: no-store"], .drop),
            (200, ["Cache-Control: no-store, max-age=5"], .drop),
            (200, ["Cache-Control: no-store, must-understand"], .store),
            (299, ["Cache-Control: max-age=5"], .store),
            (299, ["Cache-Control: max-age=5, must-understand"], .drop),
            (299, [], .drop),
            (200, ["Vary: *"], .drop),
            (204, [], .store), (203, [], .store),
            (301, [], .drop), (301, ["ETag: \"a\""], .store), (301, ["Cache-Control: max-age=5"], .store),
            (302, [], .drop), (302, ["Expires: 0"], .store), (307, ["Cache-Control: max-age=5"], .store),
            (404, [], .drop), (404, ["Cache-Control: public"], .store),
            (410, ["Last-Modified: \(httpDate(-9))"], .store),
            (206, ["Cache-Control: max-age=5"], .leave), (304, ["Cache-Control: max-age=5"], .leave),
            (100, [], .leave), (416, [], .leave),
            (401, [], .leave), (403, [], .leave), (407, [], .leave), (429, [], .leave),
            (500, [], .leave), (503, [], .leave), (503, ["Cache-Control: max-age=5"], .store), (501, [], .leave),
        ] as [(Int, [String], Storability)])
    func `a response to GET is stored, or removes or keeps the stored response`(
        status: Int, lines: [String], expected: Storability
    ) {
        #expect(Storability(of: answer(status, lines), to: get(), policy: .default) == expected)
    }

    @Test func `a private cache stores responses to requests with credentials`() {
        let request = get("/a", "Authorization: Basic eDp5")
        #expect(Storability(of: answer(200), to: request, policy: .default) == .store)
    }

    @Test func `no-store, another method, another scheme and the policy to ignore store nothing`() {
        let fresh = answer(200, "Cache-Control: max-age=5")
        let secret = get("/a", "Cache-Control: no-store")
        #expect(Storability(of: fresh, to: secret, policy: .default) == .drop)
        for method in [HTTPRequest.Method.head, .post, .put, .delete, .options, .patch] {
            #expect(Storability(of: fresh, to: get(method: method), policy: .default) == .leave)
        }
        #expect(Storability(of: fresh, to: get(), policy: .ignore) == .leave)
        let other = HTTPRequest(method: .get, scheme: "ftp", authority: "a", path: "/")
        #expect(Storability(of: fresh, to: other, policy: .default) == .leave)
    }

    // MARK: - Invalidation

    private func invalidated(_ status: Int, _ method: HTTPRequest.Method, _ lines: String...) -> [String] {
        Invalidation.targets(of: answer(status, lines), to: get("/a/b?q", method: method)).map(\.key)
    }

    @Test(arguments: [HTTPRequest.Method.post, .put, .delete, .patch, .init("PURGE")!])
    func `a successful unsafe method invalidates its target`(method: HTTPRequest.Method) {
        for status in [200, 201, 204, 303, 399] {
            #expect(invalidated(status, method) == ["https://example.com/a/b?q"])
        }
        for status in [100, 400, 404, 412, 500] { #expect(invalidated(status, method) == []) }
    }

    @Test(arguments: [HTTPRequest.Method.get, .head, .options, .trace, .query])
    func `a safe method invalidates nothing`(method: HTTPRequest.Method) { #expect(invalidated(200, method) == []) }

    @Test(
        arguments: [
            ("/c", "https://example.com/c"), ("c?x=1#y", "https://example.com/a/c?x=1"),
            ("https://EXAMPLE.com:443/d", "https://example.com/d"), ("//example.com", "https://example.com/"),
            ("http://example.com/d", nil), ("https://example.org/d", nil), ("https://example.com:444/", nil),
            ("", nil), ("javascript:1", nil), ("http://[", nil),
        ] as [(String, String?)])
    func `addresses in the response are invalidated in the same origin only`(location: String, key: String?) {
        for name in ["Location", "Content-Location"] {
            let expected = ["https://example.com/a/b?q"] + (key.map { [$0] } ?? [])
            #expect(invalidated(201, .post, "\(name): \(location)") == expected)
        }
    }
}

@Suite struct TargetURITests {
    @Test(
        arguments: [
            ("https://Example.COM", "https://example.com/"), ("HTTP://a:80/B?c#d", "http://a/B?c"),
            ("https://a:80", "https://a:80/"), ("https://u:p@a:443/x", "https://a/x"), ("http://a:/", "http://a/"),
            ("http://a?x", "http://a/?x"), ("https://[::1]:443/", "https://[::1]/"),
            ("https://[::443]/", "https://[::443]/"),
            ("ftp://a/", nil), ("a/b", nil), ("", nil), ("http://", nil), ("https://:443/", nil), ("://", nil),
        ] as [(String, String?)])
    func `equivalent addresses have the same key`(url: String, key: String?) { #expect(TargetURI(url)?.key == key) }
}
