import HTTPCore
import HTTPTypes
import Testing

@Suite struct AuthenticationAttemptsTests {
    private typealias Peer = AuthenticationAttempts.Peer
    private let origin = Peer.origin(HTTPAddress("https://a/")!.origin)
    private let other = Peer.origin(HTTPAddress("https://b/")!.origin)
    private let password = HTTPCredential.password(user: "u", password: "p")
    private let wrong = HTTPCredential.password(user: "u", password: "wrong")
    private let basic = AuthenticationChallenge.parse(#"Basic realm="r""#)
    private func digest(_ nonce: String, stale: Bool = false, realm: String = "r") -> [AuthenticationChallenge] {
        AuthenticationChallenge.parse(#"Digest realm="\#(realm)", nonce="\#(nonce)", qop=auth, stale=\#(stale)"#)
    }

    private func value(_ attempts: inout AuthenticationAttempts, _ peer: Peer) -> String? {
        attempts.authorization(for: peer, method: .get, target: "/", clientNonce: "c")
    }

    private func answer(_ attempts: inout AuthenticationAttempts, _ peer: Peer, with credential: HTTPCredential) -> Bool
    {
        attempts.answer(peer, with: credential)
    }

    private func sendUnasked(_ attempts: inout AuthenticationAttempts, _ credential: HTTPCredential, to peer: Peer)
        -> Bool
    {
        attempts.sendUnasked(credential, to: peer)
    }

    @Test func `no credential is sent before a challenge`() {
        var attempts = AuthenticationAttempts()
        #expect(value(&attempts, origin) == nil)
        #expect(value(&attempts, .proxy) == nil)
        #expect(answer(&attempts, origin, with: password) == false)
    }

    @Test(arguments: ["", "Negotiate", "NTLM abc", "Digest realm=x, nonce=y, qop=auth-int", "Digest realm=x"])
    func `an unsupported challenge fails`(line: String) {
        var attempts = AuthenticationAttempts()
        #expect(attempts.challenged(by: origin, AuthenticationChallenge.parse(line)) == .fail)
        #expect(!answer(&attempts, origin, with: password))
    }

    @Test func `the strongest challenge comes first in any order, and is answered`() {
        let lines = [
            "Basic realm=r", "Digest realm=r, nonce=m, qop=auth",
            "Digest realm=r, nonce=s, qop=auth, algorithm=SHA-256",
            "Negotiate",
        ]
        for list in [lines, lines.reversed()] {
            var attempts = AuthenticationAttempts()
            let step = attempts.challenged(by: origin, list.flatMap(AuthenticationChallenge.parse))
            guard case .ask(let challenges) = step else { return #expect(Bool(false), "\(step)") }
            #expect(challenges.map { $0.parameters["nonce"] ?? $0.scheme } == ["s", "m", "basic"])
            #expect(answer(&attempts, origin, with: password))
            #expect(value(&attempts, origin)?.contains("algorithm=SHA-256") == true)
        }
    }

    @Test func `a token answers Bearer, and a password answers Digest and Basic`() {
        var attempts = AuthenticationAttempts()
        let both = AuthenticationChallenge.parse("Basic realm=r, Bearer realm=r")
        #expect(attempts.challenged(by: origin, both) == .ask([both[1], both[0]]))
        #expect(answer(&attempts, origin, with: .bearer("t")))
        #expect(value(&attempts, origin) == "Bearer t")
        _ = attempts.challenged(by: origin, both)
        #expect(answer(&attempts, origin, with: password))
        #expect(value(&attempts, origin) == "Basic dTpw")
        #expect(!answer(&attempts, other, with: password))
    }

    @Test func `a credential is tried once, and another credential may follow`() {
        for challenge in [basic, digest("n")] {
            var attempts = AuthenticationAttempts()
            #expect(attempts.challenged(by: origin, challenge) == .ask(challenge))
            #expect(answer(&attempts, origin, with: wrong))
            #expect(attempts.challenged(by: origin, challenge) == .ask(challenge))
            #expect(value(&attempts, origin) == nil)
            #expect(!answer(&attempts, origin, with: wrong))
            #expect(answer(&attempts, origin, with: password))
            _ = attempts.challenged(by: origin, challenge)
            #expect(!answer(&attempts, origin, with: password))
        }
    }

    @Test func `a new nonce alone is not a new challenge`() {
        var attempts = AuthenticationAttempts()
        _ = attempts.challenged(by: origin, digest("1"))
        #expect(answer(&attempts, origin, with: password))
        _ = attempts.challenged(by: origin, digest("2"))
        #expect(!answer(&attempts, origin, with: password))
    }

    @Test func `a stale nonce is answered again once, without a new credential`() {
        var attempts = AuthenticationAttempts()
        _ = attempts.challenged(by: origin, digest("1"))
        #expect(answer(&attempts, origin, with: password))
        #expect(attempts.challenged(by: origin, digest("2", stale: true)) == .repeatWithNewNonce)
        #expect(value(&attempts, origin)?.contains(#"nonce="2""#) == true)
        #expect(attempts.challenged(by: origin, digest("3", stale: true)) == .ask(digest("3", stale: true)))
        #expect(!answer(&attempts, origin, with: password))
    }

    @Test func `stale is ignored with the same nonce, another realm, or before an answer`() {
        for challenge in [digest("1", stale: true), digest("2", stale: true, realm: "s")] {
            var attempts = AuthenticationAttempts()
            _ = attempts.challenged(by: origin, digest("1"))
            #expect(answer(&attempts, origin, with: password))
            #expect(attempts.challenged(by: origin, challenge) == .ask(challenge))
        }
        var fresh = AuthenticationAttempts()
        #expect(fresh.challenged(by: origin, digest("1", stale: true)) == .ask(digest("1", stale: true)))
    }

    @Test func `each origin and the proxy have separate state`() {
        var attempts = AuthenticationAttempts()
        for peer in [origin, other, .proxy] {
            _ = attempts.challenged(by: peer, basic)
            #expect(value(&attempts, peer) == nil)
            #expect(answer(&attempts, peer, with: password))
            #expect(value(&attempts, peer) != nil)
        }
        _ = attempts.challenged(by: .proxy, basic)
        #expect(value(&attempts, .proxy) == nil)
        #expect(value(&attempts, origin) != nil)
    }

    @Test func `the same credential may answer another realm`() {
        var attempts = AuthenticationAttempts()
        _ = attempts.challenged(by: origin, basic)
        #expect(answer(&attempts, origin, with: password))
        _ = attempts.challenged(by: origin, AuthenticationChallenge.parse("Basic realm=s"))
        #expect(answer(&attempts, origin, with: password))
    }

    @Test func `a credential sent before a challenge counts as tried in every realm, but not for Digest`() {
        var attempts = AuthenticationAttempts()
        #expect(sendUnasked(&attempts, password, to: origin))
        #expect(value(&attempts, origin) == "Basic dTpw")
        #expect(value(&attempts, other) == nil)
        _ = attempts.challenged(by: origin, basic)
        #expect(!answer(&attempts, origin, with: password))
        _ = attempts.challenged(by: origin, digest("1"))
        #expect(answer(&attempts, origin, with: password))
        #expect(sendUnasked(&attempts, .bearer("t"), to: .proxy))
        #expect(!sendUnasked(&attempts, .bearer("no token"), to: .proxy))
        #expect(!sendUnasked(&attempts, .password(user: "a:b", password: ""), to: .proxy))
    }

    @Test func `a user name with a colon is sent by Digest and never by Basic`() {
        var attempts = AuthenticationAttempts()
        let colon = HTTPCredential.password(user: "a:b", password: "p")
        _ = attempts.challenged(by: origin, basic)
        #expect(!answer(&attempts, origin, with: colon))
        _ = attempts.challenged(by: origin, basic + digest("1"))
        #expect(answer(&attempts, origin, with: colon))
        #expect(value(&attempts, origin)?.hasPrefix("Digest ") == true)
    }

    @Test func `each request has a separate nonce count`() {
        var attempts = AuthenticationAttempts()
        _ = attempts.challenged(by: origin, digest("1"))
        #expect(answer(&attempts, origin, with: password))
        #expect(value(&attempts, origin)?.contains("nc=00000001") == true)
        #expect(value(&attempts, origin)?.contains("nc=00000002") == true)
    }

    @Test func `a hook that always returns another credential reaches the limit`() {
        var attempts = AuthenticationAttempts()
        var answers = 0
        while case .ask = attempts.challenged(by: origin, basic) {
            #expect(answer(&attempts, origin, with: .password(user: "\(answers)", password: "")))
            answers += 1
        }
        #expect(answers == AuthenticationAttempts.limit)
    }
}
