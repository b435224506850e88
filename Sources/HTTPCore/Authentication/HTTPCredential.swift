#if Networking
#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What one authenticates with (rule R8). Its description says nothing of it.
public enum HTTPCredential: Hashable, Sendable {
    /// Answers Digest and Basic, Digest if there is the choice. A user name with a colon cannot be sent by Basic.
    case password(user: String, password: String)
    /// Answers Bearer: a token as it was handed out, of letters, digits and `-._~+/=`.
    case bearer(String)
}

extension HTTPCredential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    public var description: String {
        switch self {
        case .password: "a user name and password"
        case .bearer: "a bearer token"
        }
    }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: [:]) }
}

extension HTTPCredential {
    /// The field's value for Basic, in UTF-8 (RFC 7617); nil if the user name has a colon or either has a control character.
    package var basicAuthorization: String? {
        guard case .password(let user, let password) = self, !user.utf8.contains(UInt8(ascii: ":")),
            !(user + password).unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else { return nil }
        return "Basic " + Data("\(user):\(password)".utf8).base64EncodedString()
    }

    /// The field's value for Bearer (RFC 6750); nil if the token could not stand in one.
    package var bearerAuthorization: String? {
        guard case .bearer(let token) = self else { return nil }
        var scanner = FieldScanner(token)
        guard scanner.token68() == token else { return nil }
        return "Bearer \(token)"
    }
}

extension HTTPAddress {
    /// What user name and password in the address are good for; nil without any.
    package var credential: HTTPCredential? {
        user == nil && password == nil ? nil : .password(user: user ?? "", password: password ?? "")
    }
}
#endif
