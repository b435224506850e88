#if Networking
package import HTTPTypes

/// What a server or proxy asks for: one scheme with its parameters (RFC 9110, section 11).
public struct AuthenticationChallenge: Hashable, Sendable {
    /// In lower case: `basic`, `digest`, `bearer`.
    public let scheme: String
    /// By names in lower case.
    public let parameters: [String: String]
    public let token68: String?

    /// What the credentials are for; text to show to a user.
    public var realm: String? { parameters["realm"] }

    package init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme.lowercased()
        self.parameters = parameters
        self.token68 = token68
    }

    /// Those of a response with status 401 or 407, in their order.
    package static func all(in fields: HTTPFields, _ name: HTTPField.Name) -> [AuthenticationChallenge] {
        fields[values: name].flatMap(parse)
    }

    /// The challenges of one line. Total: what is none is skipped up to the next comma.
    package static func parse(_ line: String) -> [AuthenticationChallenge] {
        var (scanner, challenges) = (FieldScanner(line), [AuthenticationChallenge]())
        var (scheme, parameters, token68): (String?, [String: String], String?) = (nil, [:], nil)
        func finish() {
            guard let scheme else { return }
            challenges.append(.init(scheme: scheme, parameters: parameters, token68: token68))
        }
        while !scanner.isAtEnd {
            scanner.skipSpace()
            // A parameter of the scheme before, or else the next scheme, maybe with its first parameter.
            if let (name, value) = scanner.parameter() {
                if parameters[name] == nil { parameters[name] = value }
            } else if let name = scanner.token(), !scanner.isAtSign("=") {
                finish()
                (scheme, parameters, token68) = (name, [:], nil)
                token68 = scanner.token68()
                if token68 == nil, let (name, value) = scanner.parameter() { parameters[name] = value }
            }
            scanner.skip(to: ",")
            _ = scanner.take(",")
        }
        finish()
        return challenges
    }
}
#endif
