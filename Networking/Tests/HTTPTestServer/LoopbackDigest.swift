import Crypto
import HTTPTypes
import NIOConcurrencyHelpers

/// Digest authentication of a server, with `qop=auth` only.
public final class LoopbackDigest: Sendable {
    /// The supported hash algorithms.
    public enum Algorithm: String, Sendable, CaseIterable {
        case md5 = "MD5"
        case sha256 = "SHA-256"

        package func hash(_ text: String) -> String {
            switch self {
            case .md5: Insecure.MD5.hash(data: Array(text.utf8)).hexadecimal
            case .sha256: SHA256.hash(data: Array(text.utf8)).hexadecimal
            }
        }
    }

    /// The decision about a request, with the challenges of a refusal.
    public enum Verdict: Sendable, Equatable {
        /// The request carries a valid answer.
        case accepted
        /// The request carries no valid answer. `challenges` are the values of the fields `WWW-Authenticate`.
        case refused(challenges: [String])
    }

    private struct Nonces {
        var last = 0
        /// The highest `nc` of each valid nonce.
        var counts: [String: Int] = [:]
    }

    private enum Use { case good, stale, repeated }

    private let realm: String
    private let user: String
    private let password: String
    private let algorithms: [Algorithm]
    private let usesPerNonce: Int
    private let nonces = NIOLockedValueBox(Nonces())
    private let opaque = "opaque, with a comma"

    /// Creates the state of a protected resource. A nonce becomes stale after `usesPerNonce` requests.
    public init(realm: String, user: String, password: String, algorithms: [Algorithm], usesPerNonce: Int = .max) {
        self.realm = realm
        self.user = user
        self.password = password
        self.algorithms = algorithms
        self.usesPerNonce = usesPerNonce
    }

    /// Returns whether the request carries a valid answer, and the challenges if it does not.
    public func judge(_ request: LoopbackRequest) -> Verdict {
        guard let field = request.fields.credentials(of: "digest") else { return refused(isStale: false) }
        let parameters = Self.parameters(field)
        guard isCorrect(parameters, request), let nonce = parameters["nonce"],
            let count = parameters["nc"].flatMap({ Int($0, radix: 16) })
        else { return refused(isStale: false) }
        switch use(nonce, count) {
        case .good: return .accepted
        case .stale: return refused(isStale: true)
        case .repeated: return refused(isStale: false)
        }
    }

    private func isCorrect(_ given: [String: String], _ request: LoopbackRequest) -> Bool {
        guard let algorithm = Algorithm(rawValue: (given["algorithm"] ?? "MD5").uppercased()),
            algorithms.contains(algorithm), given["username"] == user, given["realm"] == realm,
            given["uri"] == request.target, given["qop"] == "auth", given["opaque"] == opaque,
            let nonce = given["nonce"], let count = given["nc"], count.utf8.count == 8,
            let clientNonce = given["cnonce"]
        else { return false }
        let secret = algorithm.hash("\(user):\(realm):\(password)")
        let action = algorithm.hash("\(request.method.rawValue):\(request.target)")
        return given["response"] == algorithm.hash("\(secret):\(nonce):\(count):\(clientNonce):auth:\(action)")
    }

    /// Records the use of a nonce. The counts of a nonce must increase, and must not exceed `usesPerNonce`.
    private func use(_ nonce: String, _ count: Int) -> Use {
        nonces.withLockedValue { nonces in
            guard let last = nonces.counts[nonce] else { return .stale }
            guard count > last else { return .repeated }
            guard count <= usesPerNonce else {
                nonces.counts[nonce] = nil
                return .stale
            }
            nonces.counts[nonce] = count
            return .good
        }
    }

    private func refused(isStale: Bool) -> Verdict {
        let nonce = nonces.withLockedValue { nonces in
            nonces.last += 1
            let nonce = SHA256.hash(data: Array("nonce \(nonces.last)".utf8)).prefix(12).hexadecimal
            nonces.counts[nonce] = 0
            return nonce
        }
        return .refused(
            challenges: algorithms.map { algorithm in
                "Digest realm=\"\(realm)\", qop=\"auth\", algorithm=\(algorithm.rawValue), nonce=\"\(nonce)\", "
                    + "opaque=\"\(opaque)\"" + (isStale ? ", stale=true" : "")
            })
    }

    /// Returns the pairs `name=value` and `name="value"`, which commas separate. The parser skips invalid pairs.
    static func parameters(_ field: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var rest = Array(field)[...]
        while let equals = rest.firstIndex(of: "=") {
            let name = String(rest[..<equals]).trimmed.lowercased()
            rest = rest[(equals + 1)...].drop { $0 == " " }
            var value = ""
            if rest.first == "\"" {
                rest = rest.dropFirst()
                while let character = rest.popFirst(), character != "\"" {
                    value.append(character == "\\" ? rest.popFirst() ?? character : character)
                }
                rest = rest.drop { $0 != "," }
            } else {
                value = String(rest.prefix { $0 != "," }).trimmed
                rest = rest.drop { $0 != "," }
            }
            parameters[name] = value
            rest = rest.dropFirst()
        }
        return parameters
    }
}
