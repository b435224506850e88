#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A credential for a server or proxy. The description and the mirror of a credential contain no secret.
public enum HTTPCredential: Hashable, Sendable {
    /// A user name and a password, for the schemes Digest and Basic. Digest is preferred. Basic cannot send a user name
    /// that contains a colon.
    case password(user: String, password: String)
    /// A bearer token that consists of letters, digits and the characters `-._~+/=`, for the scheme Bearer.
    case bearer(String)
}

extension HTTPCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The kind of the credential, without its secret.
    public var description: String {
        switch self {
        case .password: "a user name and password"
        case .bearer: "a bearer token"
        }
    }
    /// The kind of the credential, without its secret.
    public var debugDescription: String { description }
    /// A mirror without children, so that `dump` prints no secret.
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPCredential {
    /// The field's value for Basic, in UTF-8 (RFC 7617). The value is nil if the user name contains a colon, or if the
    /// user name or the password contains a control character.
    package var basicAuthorization: String? {
        guard case .password(let user, let password) = self, !user.utf8.contains(UInt8(ascii: ":")),
            !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// The field's value for Bearer (RFC 6750), or nil if the token contains characters that the field does not allow.
    package var bearerAuthorization: String? {
        guard case .bearer(let token) = self else { return nil }
        var scanner = FieldScanner(token)
        guard scanner.token68() == token else { return nil }
        return "Bearer \(token)"
    }
}

extension HTTPAddress {
    /// The credential from the user name and the password in the address, or nil if the address contains neither.
    package var credential: HTTPCredential? {
        user == nil && password == nil ? nil : .password(user: user ?? "", password: password ?? "")
    }
}
