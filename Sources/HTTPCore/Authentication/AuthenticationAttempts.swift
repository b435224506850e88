#if Networking
package import HTTPTypes

/// What a request has been challenged for, and what was tried: each credential once per challenge (rule R8). Servers and
/// the proxy are kept apart. A plain value; the transport asks it, and the hook that knows credentials, in turn:
///
///     401 or 407 ──► challenged ──► ask ──► answer ──► the request is sent again
///                        │  └──► repeatWithNewNonce ──────────▲
///                        └──► fail        └──► nil: fail
///
package struct AuthenticationAttempts: Sendable {
    package enum Peer: Hashable, Sendable {
        case origin(HTTPAddress.Origin)
        case proxy

        package var challengeField: HTTPField.Name { self == .proxy ? .proxyAuthenticate : .wwwAuthenticate }
        package var authorizationField: HTTPField.Name { self == .proxy ? .proxyAuthorization : .authorization }
    }

    package enum Step: Hashable, Sendable {
        /// Ask for a credential for one of these, which can be answered, the strongest first; or `answer` with what one has.
        case ask([AuthenticationChallenge])
        /// The credential was right but its nonce old: `authorization` has the answer, nobody is asked.
        case repeatWithNewNonce
        /// Nothing is asked for that can be answered, or enough was tried.
        case fail
    }

    private struct Trial: Hashable {
        let peer: Peer
        let scheme: String
        /// Nil if it was sent before it was asked for: then it counts for every realm.
        let realm: String?
        let credential: HTTPCredential
    }

    /// What the next request to a peer carries.
    private enum Session: Sendable {
        case constant(String)
        case digest(DigestSession)
    }

    /// How often one request may be answered per peer: a hook that always finds another credential must not run forever.
    package static let limit = 5

    private var tried: Set<Trial> = []
    private var answers: [Peer: Int] = [:]
    private var sessions: [Peer: Session] = [:]
    private var credentials: [Peer: HTTPCredential] = [:]
    private var pending: [Peer: [AuthenticationChallenge]] = [:]
    private var hasRepeated: Set<Peer> = []

    package init() {}

    /// A response with status 401 or 407 has come.
    package mutating func challenged(by peer: Peer, _ challenges: [AuthenticationChallenge]) -> Step {
        let old = sessions.removeValue(forKey: peer)
        let possible = Self.byStrength(challenges)
        pending[peer] = possible
        guard !possible.isEmpty, answers[peer, default: 0] < Self.limit else { return .fail }
        if case .digest(let session) = old, case .password(let user, let password) = credentials[peer],
            !hasRepeated.contains(peer)
        {
            let renewed = possible.lazy.compactMap(DigestChallenge.init).first {
                $0.isStale && $0.realm == session.challenge.realm && $0.nonce != session.challenge.nonce
            }
            if let renewed, let session = DigestSession(renewed, user: user, password: password) {
                hasRepeated.insert(peer)
                sessions[peer] = .digest(session)
                answers[peer, default: 0] += 1
                return .repeatWithNewNonce
            }
        }
        return .ask(possible)
    }

    /// Answers the last challenge with a credential; from then on `authorization` carries it. False if it has been tried for
    /// this, or does not fit to any scheme that was offered: then the request has failed.
    package mutating func answer(_ peer: Peer, with credential: HTTPCredential) -> Bool {
        guard answers[peer, default: 0] < Self.limit else { return false }
        for challenge in pending[peer] ?? [] {
            let trials = [challenge.realm, nil].map {
                Trial(peer: peer, scheme: challenge.scheme, realm: $0, credential: credential)
            }
            guard let session = Self.session(challenge, credential), tried.isDisjoint(with: trials) else { continue }
            tried.insert(trials[0])
            answers[peer, default: 0] += 1
            hasRepeated.remove(peer)
            (sessions[peer], credentials[peer]) = (session, credential)
            return true
        }
        return false
    }

    /// Sends a credential that nobody has asked for yet: Basic or Bearer. It counts as tried. False if it cannot be sent.
    package mutating func sendUnasked(_ credential: HTTPCredential, to peer: Peer) -> Bool {
        guard let value = credential.basicAuthorization ?? credential.bearerAuthorization else { return false }
        let scheme = credential.bearerAuthorization == nil ? "basic" : "bearer"
        tried.insert(Trial(peer: peer, scheme: scheme, realm: nil, credential: credential))
        (sessions[peer], credentials[peer]) = (.constant(value), credential)
        return true
    }

    /// The field's value for the next request to a peer, if there is one. Each request needs a value of its own.
    package mutating func authorization(
        for peer: Peer, method: HTTPRequest.Method, target: @autoclosure () -> String,
        clientNonce: @autoclosure () -> String
    ) -> String? {
        switch sessions[peer] {
        case nil: return nil
        case .constant(let value): return value
        case .digest(var session):
            let value = session.authorization(
                method: method.rawValue, target: target(), clientNonce: clientNonce())
            sessions[peer] = .digest(session)
            return value
        }
    }

    /// The credential that the next request to a peer carries; nil for none.
    package func credential(for peer: Peer) -> HTTPCredential? { sessions[peer] == nil ? nil : credentials[peer] }

    private static func session(_ challenge: AuthenticationChallenge, _ credential: HTTPCredential) -> Session? {
        switch (challenge.scheme, credential) {
        case ("digest", .password(let user, let password)):
            DigestChallenge(challenge).flatMap { DigestSession($0, user: user, password: password) }.map(Session.digest)
        case ("basic", .password): credential.basicAuthorization.map(Session.constant)
        case ("bearer", .bearer): credential.bearerAuthorization.map(Session.constant)
        default: nil
        }
    }

    /// Those that can be answered: Bearer, Digest by algorithm, Basic; of equals the first.
    private static func byStrength(_ challenges: [AuthenticationChallenge]) -> [AuthenticationChallenge] {
        let ranked = challenges.enumerated().compactMap { index, challenge -> (Int, Int, AuthenticationChallenge)? in
            switch challenge.scheme {
            case "bearer": return (100, -index, challenge)
            case "digest":
                guard let algorithm = DigestChallenge(challenge)?.algorithm else { return nil }
                return (10 + DigestChallenge.Algorithm.allCases.firstIndex(of: algorithm)!, -index, challenge)
            case "basic": return (1, -index, challenge)
            default: return nil
            }
        }
        return ranked.sorted { ($0.0, $0.1) > ($1.0, $1.1) }.map(\.2)
    }
}
#endif
