import Crypto
package import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The user of a request, as far as the server can see the user. Two requests have equal identities if they carry the
/// same credentials.
package struct UserIdentity: Hashable, Sendable {
    /// A text of letters, digits, `+/=.` and spaces that contains the secrets. Use the text only as the input of a hash
    /// function. Nil if the request has no credentials.
    package let secret: String?

    /// - Parameters:
    ///   - credential: The credential that the request carries in addition to its fields.
    ///   - credentialFields: The names of additional fields with credentials, in any case.
    package init(_ credential: HTTPCredential?, fields: HTTPFields, credentialFields: Set<String>) {
        var parts: [[String]] = []
        switch credential {
        case nil: break
        case .password(let user, let password): parts.append(["password", user, password])
        case .bearer(let token): parts.append(["bearer", token])
        }
        // Fields with different names have no significant order.
        let names = Set(fields.map(\.name).filter { $0.isCredential(or: credentialFields) })
        for name in names.sorted(by: { $0.canonicalName < $1.canonicalName }) {
            parts.append(["field", name.canonicalName] + fields[values: name])
        }
        secret =
            parts.isEmpty
            ? nil
            : parts.map { part in part.map { Data($0.utf8).base64EncodedString() + "." }.joined() }.joined(
                separator: " ")
    }

    /// The SHA-256 digest of the secret in hexadecimal digits.
    package var digest: String? { secret.map { SHA256.hash(data: Data($0.utf8)).hexadecimal() } }
}
