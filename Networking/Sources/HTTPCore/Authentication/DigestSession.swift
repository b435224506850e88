import Crypto

/// The state for answering requests with one nonce, including the count of answers (RFC 7616). The caller passes the
/// random numbers.
package struct DigestSession: Hashable, Sendable {
    package let challenge: DigestChallenge
    private let user: String
    private let password: String
    private var count: UInt32 = 0
    /// The client nonce of the first answer, which the session variants of the algorithms reuse.
    private var sessionNonce: String?

    /// Returns nil if the user name or the password contains control characters.
    package init?(_ challenge: DigestChallenge, user: String, password: String) {
        guard !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return nil
        }
        self.challenge = challenge
        self.user = user
        self.password = password
    }

    /// Returns the field's value for one request. Each request needs a new value. `clientNonce` is random and consists
    /// of token characters and slashes.
    package mutating func authorization(method: String, target: String, clientNonce: String) -> String {
        count += 1
        let clientNonce = challenge.algorithm.isSession ? (sessionNonce ?? clientNonce) : clientNonce
        sessionNonce = clientNonce
        var secret = hash("\(user):\(challenge.realm):\(password)")
        if challenge.algorithm.isSession { secret = hash("\(secret):\(challenge.nonce):\(clientNonce)") }
        let request = hash("\(method):\(target)")
        let number = (0..<4).map { UInt8(truncatingIfNeeded: count >> (24 - 8 * $0)) }.hexadecimal()
        let middle = challenge.hasQuality ? "\(number):\(clientNonce):auth:" : ""

        var parts = [userName, quoted("realm", challenge.realm), quoted("nonce", challenge.nonce)]
        parts.append(quoted("uri", target))
        if let name = challenge.algorithmName { parts.append("algorithm=\(name)") }
        parts.append(quoted("response", hash("\(secret):\(challenge.nonce):\(middle)\(request)")))
        if let opaque = challenge.opaque { parts.append(quoted("opaque", opaque)) }
        if challenge.hasQuality { parts += ["qop=auth", "nc=\(number)"] }
        if challenge.hasQuality || challenge.algorithm.isSession { parts.append(quoted("cnonce", clientNonce)) }
        if challenge.hashesUser { parts.append("userhash=true") }
        return "Digest " + parts.joined(separator: ", ")
    }

    private var userName: String {
        if challenge.hashesUser { return quoted("username", hash("\(user):\(challenge.realm)")) }
        // RFC 8187 encodes a user name that is not ASCII, if the server has announced UTF-8.
        guard challenge.isUTF8, !user.utf8.allSatisfy({ $0 < 0x80 }) else { return quoted("username", user) }
        return "username*=UTF-8''" + PercentEncoding.encode(user.utf8) { $0.isUnreserved }
    }

    private func quoted(_ name: String, _ value: String) -> String { "\(name)=\(value.quoted)" }

    private func hash(_ text: String) -> String {
        let bytes = Array(text.utf8)
        return switch challenge.algorithm {
        case .md5, .md5Session: Insecure.MD5.hash(data: bytes).hexadecimal()
        case .sha256, .sha256Session: SHA256.hash(data: bytes).hexadecimal()
        }
    }
}
