import HTTPCore
import HTTPTypes
import Testing

@Suite struct RedirectChainTests {
    private func response(_ status: Int, _ locations: String...) -> HTTPResponse {
        var response = HTTPResponse(status: .init(code: status))
        response.headerFields[values: .location] = locations
        return response
    }

    private func chain(
        _ method: HTTPRequest.Method = .get, _ url: String = "https://a/x", policy: RedirectPolicy = .standard
    ) throws -> RedirectChain {
        RedirectChain(method, try #require(HTTPAddress(url)), policy: policy)
    }

    private func redirect(_ decision: RedirectChain.Decision) throws -> Redirect {
        guard case .follow(let redirect) = decision else { throw Unexpected(decision: decision) }
        return redirect
    }

    private struct Unexpected: Error { let decision: RedirectChain.Decision }

    @Test(arguments: [200, 204, 300, 304, 305, 306, 309, 399, 400, 401, 500])
    func `other statuses are not redirects, even with Location`(status: Int) throws {
        #expect(try chain().decision(for: response(status, "/y")) == .deliver)
    }

    @Test(arguments: [301, 302, 303, 307, 308])
    func `a redirect without Location, or with a policy that follows none, is the response`(status: Int) throws {
        #expect(try chain().decision(for: response(status)) == .deliver)
        #expect(try chain(policy: .none).decision(for: response(status, "/y")) == .deliver)
    }

    @Test(arguments: ["ftp://a/", "http:x", "//", "https://a:0/", "javascript:x", "https://a b/", "//x\\@y/"])
    func `a location that is not an HTTP address is refused`(location: String) throws {
        #expect(
            try chain().decision(for: response(302, location))
                == .fail(.refused(location: HTTPAddress.redacted(location))))
    }

    @Test func `the refusal contains no password`() throws {
        let decision = try chain().decision(for: response(302, "ftp://user:secret@a/"))
        #expect(decision == .fail(.refused(location: "ftp://a/")))
    }

    @Test func `several different locations are refused`() throws {
        #expect(try chain().decision(for: response(302, "/y", "/z")) == .fail(.refused(location: "/y")))
        #expect(try redirect(chain().decision(for: response(302, "/y", "/y"))).address.path == "/y")
    }

    @Test func `a redirect from https to http is refused, unless allowed`() throws {
        #expect(try chain().decision(for: response(302, "http://a/")) == .fail(.refused(location: "http://a/")))
        let allowing = try chain(policy: RedirectPolicy(allowsDowngrade: true))
        #expect(try redirect(allowing.decision(for: response(302, "http://a/"))).changesOrigin)
        #expect(try redirect(chain(.get, "http://a/").decision(for: response(302, "https://a/"))).changesOrigin)
    }

    static let methods: [(Int, HTTPRequest.Method, HTTPRequest.Method, Bool)] = [
        (301, .get, .get, false), (301, .head, .head, false), (301, .post, .get, true), (301, .put, .put, false),
        (302, .get, .get, false), (302, .head, .head, false), (302, .post, .get, true), (302, .delete, .delete, false),
        (303, .get, .get, true), (303, .head, .head, true), (303, .post, .get, true), (303, .put, .get, true),
        (303, .delete, .get, true), (307, .post, .post, false), (307, .put, .put, false), (308, .post, .post, false),
        (308, .get, .get, false), (308, .delete, .delete, false),
    ]

    @Test(arguments: methods) func `methods change as in RFC 9110`(
        status: Int, before: HTTPRequest.Method, after: HTTPRequest.Method, dropsBody: Bool
    ) throws {
        let redirect = try redirect(chain(before).decision(for: response(status, "/y")))
        #expect(redirect.method == after)
        #expect(redirect.dropsBody == dropsBody)
    }

    @Test(arguments: methods) func `methods stay unchanged, if requested`(
        status: Int, before: HTTPRequest.Method, after: HTTPRequest.Method, dropsBody: Bool
    ) throws {
        let chain = try chain(before, policy: RedirectPolicy(methods: .kept))
        let redirect = try redirect(chain.decision(for: response(status, "/y")))
        #expect(redirect.method == before)
        #expect(!redirect.dropsBody)
    }

    static let fields: HTTPFields = [
        .authorization: "secret", .proxyAuthorization: "secret", .cookie: "secret", .init("X-Api-Key")!: "secret",
        .accept: "*/*", .contentType: "text/plain", .contentEncoding: "gzip", .range: "bytes=1-",
    ]

    @Test(arguments: [
        ("/y", false), ("https://a:443/y", false), ("https://b/y", true), ("https://a:8443/y", true),
        ("https://a./", true),
        ("https://www.a/", true), ("//b/", true),
    ])
    func `a redirect to another origin drops the credentials`(location: String, drops: Bool) throws {
        let chain = try chain(policy: RedirectPolicy(credentialFields: ["x-API-key"]))
        let redirect = try redirect(chain.decision(for: response(307, location)))
        let names = redirect.strippedFields(of: Self.fields)
        #expect(names == (drops ? [.authorization, .proxyAuthorization, .cookie, .init("X-Api-Key")!] : []))
        #expect(redirect.remaining(of: Self.fields)[.contentType] == "text/plain")
    }

    @Test func `the fields that describe the body are dropped with the body`() throws {
        let redirect = try redirect(chain(.post).decision(for: response(302, "/y")))
        #expect(redirect.strippedFields(of: Self.fields) == [.contentType, .contentEncoding])
        #expect(redirect.remaining(of: Self.fields).count == Self.fields.count - 2)
    }

    @Test func `user name and password stay with their origin, and a server cannot choose them`() throws {
        let chain = try chain(.get, "https://u:p@a/x")
        for (location, text) in [
            ("y", "https://u:p@a/y"), ("https://a/y", "https://u:p@a/y"), ("https://v:w@a/y", "https://u:p@a/y"),
            ("https://b/", "https://b/"), ("https://v:w@b/", "https://b/"),
        ] {
            let redirect = try redirect(chain.decision(for: response(302, location)))
            #expect(redirect.address.textWithCredentials == text)
        }
    }

    @Test func `the fragment is kept, unless there is a new fragment`() throws {
        let chain = try chain(.get, "https://a/x#old")
        #expect(try redirect(chain.decision(for: response(302, "/y"))).address.fragment == "old")
        #expect(try redirect(chain.decision(for: response(302, "/y#new"))).address.fragment == "new")
    }

    @Test(arguments: 0..<7) func `the number of followed redirects equals the limit`(limit: Int) throws {
        var chain = try chain(policy: RedirectPolicy(limit: limit))
        for number in 0..<limit { chain.follow(try redirect(chain.decision(for: response(302, "/\(number)")))) }
        #expect(chain.redirects == limit)
        #expect(chain.decision(for: response(302, "/more")) == .fail(.tooMany(limit: limit)))
    }

    @Test func `a loop is detected immediately, by method and address`() throws {
        #expect(try chain().decision(for: response(302, "/x#other")) == .fail(.loop))
        var chain = try chain()
        chain.follow(try redirect(chain.decision(for: response(302, "/y"))))
        chain.follow(try redirect(chain.decision(for: response(302, "https://b/"))))
        #expect(chain.decision(for: response(307, "https://A:443/x")) == .fail(.loop))
        #expect(try redirect(chain.decision(for: response(307, "https://a/x?again"))).address.query == "again")
    }

    @Test func `after a POST a redirect may lead back to the address of the form`() throws {
        #expect(try redirect(chain(.post).decision(for: response(303, "/x"))).method == .get)
        #expect(try chain(.post).decision(for: response(307, "/x")) == .fail(.loop))
    }

    @Test func `a redirect changed by a hook is checked again, and its address determines the credentials`() throws {
        let chain = try chain()
        var redirect = try redirect(chain.decision(for: response(302, "/y")))
        redirect.address = try #require(HTTPAddress("https://b/"))
        #expect(chain.checked(redirect) == .follow(redirect))
        #expect(redirect.strippedFields(of: Self.fields).contains(.authorization))
        redirect.address = try #require(HTTPAddress("http://a/"))
        #expect(chain.checked(redirect) == .fail(.refused(location: "http://a/")))
        redirect.address = try #require(HTTPAddress("https://a/x"))
        #expect(chain.checked(redirect) == .fail(.loop))
    }

    @Test func `failures have matching reasons`() {
        guard case .tooManyRedirects(3) = RedirectChain.Failure.tooMany(limit: 3).reason,
            case .redirectLoop = RedirectChain.Failure.loop.reason,
            case .redirectRefused("x") = RedirectChain.Failure.refused(location: "x").reason
        else { return #expect(Bool(false)) }
    }
}
