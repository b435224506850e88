import HTTPCore
import Testing

@Suite struct DigestTests {
    private func session(_ line: String, user: String = "Mufasa", password: String = "Circle of Life") throws
        -> DigestSession
    {
        let challenge = try #require(AuthenticationChallenge.parse(line).first.flatMap { DigestChallenge($0) })
        return try #require(DigestSession(challenge, user: user, password: password))
    }

    static let nonce = "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v"
    static let clientNonce = "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ"

    @Test(arguments: [
        ("MD5", "8ca523f5e9506fed4657c9700eebdbec"),
        ("SHA-256", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
    ])
    func `the digests match the examples of RFC 7616`(algorithm: String, response: String) throws {
        var session = try session(
            """
            Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=\(algorithm), nonce="\(Self.nonce)", \
            opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"
            """)
        #expect(
            session.authorization(method: "GET", target: "/dir/index.html", clientNonce: Self.clientNonce) == """
                Digest username="Mufasa", realm="http-auth@example.org", nonce="\(Self.nonce)", uri="/dir/index.html", \
                algorithm=\(algorithm), response="\(response)", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", \
                qop=auth, nc=00000001, cnonce="\(Self.clientNonce)"
                """)
    }

    @Test func `the digests match the example of RFC 2617, and without qop the example of RFC 2069`() throws {
        let line = #"Digest realm="testrealm@host.com", nonce="dcd98b7102dd2f0e8b11d0f600bfb0c093", opaque="5ccc""#
        var new = try session(line + #", qop="auth,auth-int""#, password: "Circle Of Life")
        let value = new.authorization(method: "GET", target: "/dir/index.html", clientNonce: "0a4f113b")
        #expect(value.contains(#"response="6629fae49393a05397450978507c4ef1""#))
        #expect(!value.contains("algorithm"))
        var old = try session(line, password: "CircleOfLife")
        let answer = old.authorization(method: "GET", target: "/dir/index.html", clientNonce: "0a4f113b")
        #expect(answer.contains(#"response="1949323746fe6a43ef61f9606e7febea""#))
        #expect(!answer.contains("qop") && !answer.contains("nc=") && !answer.contains("cnonce"))
    }

    @Test func `each answer has its own count and client nonce, and session variants keep the first nonce`() throws {
        for (algorithm, keeps) in [("MD5", false), ("md5-SESS", true), ("SHA-256", false), ("SHA-256-sess", true)] {
            var session = try session(#"Digest realm="r", nonce="n", qop=auth, algorithm=\#(algorithm)"#)
            let values = (0..<12).map { session.authorization(method: "GET", target: "/", clientNonce: "c\($0)") }
            #expect(values[9].contains("nc=0000000a"))
            #expect(values[11].contains(#"cnonce="\#(keeps ? "c0" : "c11")""#))
        }
    }

    /// The expected values come from Python's hashlib.
    @Test(arguments: [
        ("MD5-sess", "c53858fe6c46d2bb443411951c3db6fa"),
        ("SHA-256-sess", "e43e8327ec02b1035ee1329327e1c064f62062e7507c0a0f4d6a8627c836e9c5"),
    ])
    func `session variants hash the client nonce into the secret`(algorithm: String, response: String) throws {
        var session = try session(#"Digest realm="r", nonce="n", qop=auth, algorithm=\#(algorithm)"#)
        let value = session.authorization(method: "POST", target: "/a?b", clientNonce: "c")
        #expect(value.contains(#"response="\#(response)""#))
    }

    @Test func `user names are hashed on request of the server`() throws {
        let hash = "5a1a8a47df5c298551b9b42ba9b05835174a5bd7d511ff7fe9191d8e946fc4e7"
        var session = try session(
            #"Digest realm="api@example.org", nonce="n", qop=auth, algorithm=SHA-256, userhash=true"#, user: "Jäsøn Doe"
        )
        let value = session.authorization(method: "GET", target: "/", clientNonce: "c")
        #expect(value.contains(#"username="\#(hash)""#) && value.hasSuffix("userhash=true"))
    }

    @Test func `names beyond ASCII are sent in a supported encoding, and quotes are escaped`() throws {
        var modern = try session(#"Digest realm="a\"b", nonce="n", qop=auth, charset=UTF-8"#, user: "Jäs")
        let value = modern.authorization(method: "GET", target: "/", clientNonce: "c")
        #expect(value.contains("username*=UTF-8''J%C3%A4s,") && value.contains(#"realm="a\"b""#))
        var plain = try session(#"Digest realm="r", nonce="n", qop=auth"#, user: #"Jä"s\"#)
        #expect(plain.authorization(method: "GET", target: "/", clientNonce: "c").contains(#"username="Jä\"s\\""#))
    }

    @Test func `a quote with a combining accent is escaped`() throws {
        var session = try session("Digest realm=r, nonce=n, qop=auth", user: "a\"\u{301}, uri=\"b")
        let value = session.authorization(method: "GET", target: "/", clientNonce: "c")
        #expect(value.utf8.starts(with: "Digest username=\"a\\\"\u{301}, uri=\\\"b\", realm".utf8))
    }

    @Test(arguments: [
        "Basic realm=x", "Digest", "Digest realm=x", "Digest nonce=x", "Digest realm=x, nonce=y, algorithm=SHA-512-256",
        "Digest realm=x, nonce=y, algorithm=unknown", "Digest realm=x, nonce=y, qop=auth-int",
        "Digest realm=x, nonce=y, qop=\"\"",
        "Digest realm=x, nonce=\"a\u{1}b\"", "Digest realm=x, nonce=y, opaque=\"a\r\nX: z\"",
    ])
    func `a challenge without a possible answer is not parsed`(line: String) throws {
        let challenge = try #require(AuthenticationChallenge.parse(line).first)
        #expect(DigestChallenge(challenge) == nil)
    }

    @Test(arguments: ["a\r\nb", "a\0", "\u{7F}"]) func `control characters in user name or password are refused`(
        text: String
    ) throws {
        let challenge = try #require(
            AuthenticationChallenge.parse("Digest realm=x, nonce=y").first.flatMap { DigestChallenge($0) })
        #expect(DigestSession(challenge, user: text, password: "p") == nil)
        #expect(DigestSession(challenge, user: "u", password: text) == nil)
    }

    @Test(arguments: [("true", true), ("TRUE", true), ("false", false), ("\"true\"", true), ("1", false)])
    func `only the value true means stale`(text: String, stale: Bool) throws {
        let challenge = try #require(AuthenticationChallenge.parse("Digest realm=x, nonce=y, stale=\(text)").first)
        #expect(DigestChallenge(challenge)?.isStale == stale)
    }
}
