/// A Digest challenge that can be answered (RFC 7616).
package struct DigestChallenge: Hashable, Sendable {
    /// The supported algorithms, from the weakest to the strongest. SHA-512-256 is not supported.
    package enum Algorithm: String, CaseIterable, Comparable, Sendable {
        case md5 = "MD5"
        case md5Session = "MD5-sess"
        case sha256 = "SHA-256"
        case sha256Session = "SHA-256-sess"

        package var isSession: Bool { self == .md5Session || self == .sha256Session }

        package static func < (one: Self, other: Self) -> Bool {
            allCases.firstIndex(of: one)! < allCases.firstIndex(of: other)!
        }
    }

    package let realm: String
    package let nonce: String
    package let opaque: String?
    package let algorithm: Algorithm
    /// The algorithm's name for the answer, or nil if the challenge names no algorithm. The answer then omits the name
    /// too.
    package let algorithmName: String?
    /// Whether the challenge has the parameter `qop`. Servers of RFC 2069 do not send it.
    package let hasQuality: Bool
    /// Whether the server accepts the credential but considers the nonce too old.
    package let isStale: Bool
    package let hashesUser: Bool
    package let isUTF8: Bool

    /// Returns nil if the challenge is not Digest, has no realm or no nonce, or offers only unknown algorithms or
    /// qualities (`auth-int`).
    package init?(_ challenge: AuthenticationChallenge) {
        let parameters = challenge.parameters
        guard challenge.scheme == "digest", let realm = parameters["realm"], let nonce = parameters["nonce"] else {
            return nil
        }
        let name = parameters["algorithm"]
        guard
            let algorithm = Algorithm.allCases.first(where: { $0.rawValue.lowercased() == (name ?? "MD5").lowercased() }
            )
        else { return nil }
        let qualities = parameters["qop"].map { value in
            value.lowercased().split { ", \t".contains($0) }
        }
        if let qualities, !qualities.contains("auth") { return nil }
        // The answer repeats these values, and control characters cannot be sent.
        let echoed = [realm, nonce, parameters["opaque"] ?? ""]
        guard echoed.allSatisfy({ $0.utf8.allSatisfy { !$0.isControl } }) else { return nil }
        (self.realm, self.nonce, opaque) = (realm, nonce, parameters["opaque"])
        (self.algorithm, algorithmName) = (algorithm, name.map { _ in algorithm.rawValue })
        hasQuality = qualities != nil
        isStale = parameters["stale"]?.lowercased() == "true"
        hashesUser = parameters["userhash"]?.lowercased() == "true"
        isUTF8 = parameters["charset"]?.lowercased() == "utf-8"
    }
}
