import HTTPTypes
import HTTPTestServer
import Testing

@Suite struct ChallengeTests {
    static let secret = LoopbackRoute.always("/secret", .text("in"))

    static func ask(_ routes: LoopbackRoutes, _ authorization: String? = nil) async -> LoopbackResponse {
        let fields: HTTPFields = authorization.map { [.authorization: $0] } ?? [:]
        return await routes.answer(LoopbackRequest(.get, "/secret", fields: fields))
    }

    @Test func `Basic accepts the correct name and password`() async {
        let routes: LoopbackRoutes = [.basic(user: "Aladdin", password: "open sesame", then: Self.secret)]
        let asked = await Self.ask(routes)
        #expect(asked.status == .unauthorized)
        #expect(asked.fields[.wwwAuthenticate] == "Basic realm=\"loopback\", charset=\"UTF-8\"")
        for (given, status) in [
            ("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", 200), ("basic  QWxhZGRpbjpvcGVuIHNlc2FtZQ==", 200),
            ("Basic QWxhZGRpbjpvcGVu", 401), ("Bearer QWxhZGRpbjpvcGVuIHNlc2FtZQ==", 401), ("Basic", 401), ("", 401),
        ] {
            let answer = await Self.ask(routes, given)
            #expect(answer.status.code == status, "\(given)")
        }
        let utf8: LoopbackRoutes = [.basic(user: "ä", password: "ß", then: Self.secret)]
        let answer = await Self.ask(utf8, "Basic w6Q6w58=")
        #expect(answer.status == .ok)
    }

    @Test func `Bearer accepts the token, and reports an invalid token`() async {
        let routes: LoopbackRoutes = [.bearer(token: "abc", then: Self.secret)]
        var answer = await Self.ask(routes)
        #expect(answer.status == .unauthorized && answer.fields[.wwwAuthenticate] == "Bearer realm=\"loopback\"")
        answer = await Self.ask(routes, "Bearer old")
        #expect(answer.fields[.wwwAuthenticate]?.contains("error=\"invalid_token\"") == true)
        answer = await Self.ask(routes, "Bearer abc")
        #expect(answer.status == .ok)
    }

    @Test func `a route that accepts no credentials challenges each request`() async {
        let routes: LoopbackRoutes = [.alwaysUnauthorized("/secret", challenges: ["Basic realm=\"a\"", "Bearer"])]
        for given in [nil, "Basic QWxhZGRpbjpvcGVu"] {
            let answer = await Self.ask(routes, given)
            #expect(answer.fields[values: .wwwAuthenticate] == ["Basic realm=\"a\"", "Bearer"])
        }
    }

    // MARK: - Digest

    /// The client's side of Digest, which the example of RFC 7616 verifies.
    struct Client {
        var algorithm = LoopbackDigest.Algorithm.sha256
        var user = "Mufasa"
        var password = "Circle of Life"
        var realm = "http-auth@example.org"
        var nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
        var opaque = "opaque, with a comma"
        var uri = "/dir/index.html"
        var count = "00000001"
        var cnonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

        var response: String {
            let secret = algorithm.hash("\(user):\(realm):\(password)")
            let action = algorithm.hash("GET:\(uri)")
            return algorithm.hash("\(secret):\(nonce):\(count):\(cnonce):auth:\(action)")
        }

        var field: String {
            """
            Digest username="\(user)", realm="\(realm)", uri="\(uri)", algorithm=\(algorithm.rawValue), \
            nonce="\(nonce)", nc=\(count), cnonce="\(cnonce)", qop=auth, response="\(response)", opaque="\(opaque)"
            """
        }

        /// Creates a client for a challenge of the server under test.
        init(_ challenge: String, _ algorithm: LoopbackDigest.Algorithm) throws {
            self.algorithm = algorithm
            uri = "/secret"
            let part = try #require(challenge.split(separator: ", ").first { $0.hasPrefix("nonce=\"") })
            nonce = String(part.dropFirst(7).dropLast())
        }

        init() {}
    }

    @Test func `the digests match the example of RFC 7616`() {
        var client = Client()
        #expect(client.response == "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1")
        client.algorithm = .md5
        #expect(client.response == "8ca523f5e9506fed4657c9700eebdbec")
    }

    static func digest(_ algorithms: [LoopbackDigest.Algorithm], usesPerNonce: Int = .max) -> LoopbackRoutes {
        [
            .digest(
                realm: "http-auth@example.org", user: "Mufasa", password: "Circle of Life", algorithms: algorithms,
                usesPerNonce: usesPerNonce, then: secret)
        ]
    }

    @Test(arguments: LoopbackDigest.Algorithm.allCases)
    func `Digest accepts a correct answer once for each count`(algorithm: LoopbackDigest.Algorithm) async throws {
        let routes = Self.digest([.sha256, .md5])
        let asked = await Self.ask(routes)
        let challenges = asked.fields[values: .wwwAuthenticate]
        #expect(challenges.count == 2 && challenges.allSatisfy { !$0.contains("stale") })
        let challenge = try #require(challenges.first { $0.contains("algorithm=\(algorithm.rawValue),") })
        var client = try Client(challenge, algorithm)
        var answer = await Self.ask(routes, client.field)
        #expect(answer.status == .ok)
        answer = await Self.ask(routes, client.field)
        #expect(answer.status == .unauthorized, "a repeated count")
        client.count = "00000002"
        answer = await Self.ask(routes, client.field)
        #expect(answer.status == .ok)
    }

    @Test func `Digest refuses an incorrect answer, and does not call its nonce stale`() async throws {
        let routes = Self.digest([.sha256])
        let asked = await Self.ask(routes)
        let good = try Client(try #require(asked.fields[.wwwAuthenticate]), .sha256)
        for change: (inout Client) -> Void in [
            { $0.password = "wrong" }, { $0.user = "Scar" }, { $0.uri = "/other" }, { $0.opaque = "" },
            { $0.realm = "another" }, { $0.algorithm = .md5 }, { $0.count = "1" },
        ] {
            var client = good
            change(&client)
            let answer = await Self.ask(routes, client.field)
            #expect(answer.status == .unauthorized)
            #expect(answer.fields[.wwwAuthenticate]?.contains("stale") == false)
        }
        for nonsense in ["Digest", "Digest =", "Digest username=\"", "Digest a=\\,,,=\"\\", "Digest \u{e9}=\u{e9}"] {
            let answer = await Self.ask(routes, nonsense)
            #expect(answer.status == .unauthorized)
        }
        let answer = await Self.ask(routes, good.field)
        #expect(answer.status == .ok)
    }

    @Test func `a nonce is stale after its last use, and an unknown nonce is stale`() async throws {
        let routes = Self.digest([.sha256], usesPerNonce: 1)
        let asked = await Self.ask(routes)
        var client = try Client(try #require(asked.fields[.wwwAuthenticate]), .sha256)
        var answer = await Self.ask(routes, client.field)
        #expect(answer.status == .ok)
        client.count = "00000002"
        answer = await Self.ask(routes, client.field)
        let challenge = try #require(answer.fields[.wwwAuthenticate])
        #expect(answer.status == .unauthorized && challenge.contains("stale=true"))
        answer = await Self.ask(routes, try Client(challenge, .sha256).field)
        #expect(answer.status == .ok)
        client.nonce = "unknown"
        answer = await Self.ask(routes, client.field)
        #expect(answer.fields[.wwwAuthenticate]?.contains("stale=true") == true)
    }
}
