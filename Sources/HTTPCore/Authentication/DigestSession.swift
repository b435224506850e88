#if Networking
import Crypto

/// Answers requests with one nonce, counting them (RFC 7616). A plain value; random numbers are passed in.
package struct DigestSession: Hashable, Sendable {
    package let challenge: DigestChallenge
    private let user: String
    private let password: String
    private var count: UInt32 = 0
    /// The client nonce of the first answer: the session variants keep it.
    private var sessionNonce: String?

    /// Nil if user name or password hold control characters.
    package init?(_ challenge: DigestChallenge, user: String, password: String) {
        guard !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
            return nil
        }
        self.challenge = challenge
        self.user = user
        self.password = password
    }

    /// The field's value for a request; each request needs a value of its own. `clientNonce` is random, of token
    /// characters and slashes.
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
        // What is not ASCII is sent as RFC 8187 writes it, where the server has said that it understands UTF-8.
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
#endif
