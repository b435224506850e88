package import HTTPTypes

/// The challenges of a request and the credentials that were already tried. Each credential is tried once for each
/// challenge. The state of each origin and of the proxy is separate. The transport and the hook that supplies
/// credentials call the methods in this order:
///
///     401 or 407 ──► challenged ──► ask ──► answer ──► the request is sent again
///                        │  └──► repeatWithNewNonce ──────────▲
///                        └──► fail        └──► nil: fail
package struct AuthenticationAttempts: Sendable {
    /// The sender of a challenge: an origin server or the proxy.
    package enum Peer: Hashable, Sendable {
        case origin(HTTPAddress.Origin)
        case proxy
    }

    /// The next action after a challenge.
    package enum Step: Hashable, Sendable {
        /// Ask for a credential for one of these challenges, the strongest first, and pass the credential to `answer`.
        case ask([AuthenticationChallenge])
        /// The server accepts the credential but its nonce is too old. `authorization` already has the new answer,
        /// without a new credential.
        case repeatWithNewNonce
        /// No challenge can be answered, or the limit of attempts is reached.
        case fail
    }

    private struct Trial: Hashable {
        let peer: Peer
        let scheme: String
        /// The realm, or nil if the request sent the credential before a challenge. Such an attempt counts for every
        /// realm.
        let realm: String?
        let credential: HTTPCredential
    }

    /// The state for the next request to a peer.
    private enum Session: Sendable {
        case constant(String)
        case digest(DigestSession)
    }

    /// The maximum number of answers to each peer for one request. The limit ends the request when a hook returns a new
    /// credential for each challenge.
    package static let limit = 5

    private var tried: Set<Trial> = []
    private var answers: [Peer: Int] = [:]
    private var sessions: [Peer: Session] = [:]
    private var credentials: [Peer: HTTPCredential] = [:]
    private var pending: [Peer: [AuthenticationChallenge]] = [:]
    private var hasRepeated: Set<Peer> = []

    package init() {}

    /// Records the challenges of a response with status 401 or 407, and returns the next action.
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

    /// Answers the last challenge with a credential, which `authorization` then carries.
    ///
    /// - Returns: False if the credential was already tried for the challenge, or if no challenge accepts this kind of
    ///   credential. The request has then failed.
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

    /// Sends a Basic or Bearer credential before a challenge arrives, and records the attempt. Returns false if the
    /// credential cannot be sent.
    package mutating func sendUnasked(_ credential: HTTPCredential, to peer: Peer) -> Bool {
        guard let value = credential.basicAuthorization ?? credential.bearerAuthorization else { return false }
        let scheme = credential.bearerAuthorization == nil ? "basic" : "bearer"
        tried.insert(Trial(peer: peer, scheme: scheme, realm: nil, credential: credential))
        (sessions[peer], credentials[peer]) = (.constant(value), credential)
        return true
    }

    /// Returns the field's value for the next request to a peer, or nil. Each request needs a new value.
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

    /// Returns the credential of the next request to a peer, or nil.
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

    /// Returns the challenges that can be answered, the strongest first: Bearer, Digest by algorithm, Basic. Challenges
    /// of equal strength keep their order.
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
