#if Networking
import Crypto
package import HTTPTypes

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The user of a request, as far as the request shows one to the server. Requests of one user have equal identities; requests with other
/// credentials have another one. A plain value.
package struct UserIdentity: Hashable, Sendable {
    /// Letters, digits, `+/=.` and spaces. It holds the secrets, and is for hashing only. Nil if the request has no
    /// credentials.
    package let secret: String?

    /// - Parameters:
    ///   - credential: The credential that the request is sent with besides its fields.
    ///   - credentialFields: Names of fields with credentials besides those of HTTP, in any case.
    package init(_ credential: HTTPCredential?, fields: HTTPFields, credentialFields: Set<String>) {
        var parts: [[String]] = []
        switch credential {
        case nil: break
        case .password(let user, let password): parts.append(["password", user, password])
        case .bearer(let token): parts.append(["bearer", token])
        }
        // The order of fields with different names has no meaning.
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

    /// The SHA-256 of the secret in hexadecimal digits.
    package var digest: String? { secret.map { SHA256.hash(data: Data($0.utf8)).hexadecimal() } }
}
#endif
