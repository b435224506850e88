package import HTTPTypes

/// A challenge from a server or a proxy: one authentication scheme with its parameters (RFC 9110, section 11).
public struct AuthenticationChallenge: Hashable, Sendable {
    /// The scheme in lower case, for example `basic`, `digest` or `bearer`.
    public let scheme: String
    /// The parameters by their lowercase names.
    public let parameters: [String: String]
    /// The challenge's `token68`, which some schemes send in place of parameters.
    public let token68: String?

    /// The protection space that the credentials are valid for. An application can show the text to its user.
    public var realm: String? { parameters["realm"] }

    package init(scheme: String, parameters: [String: String] = [:], token68: String? = nil) {
        self.scheme = scheme.lowercased()
        self.parameters = parameters
        self.token68 = token68
    }

    /// Returns the challenges of a response with status 401 or 407, in their order.
    package static func all(in fields: HTTPFields, _ name: HTTPField.Name) -> [AuthenticationChallenge] {
        fields[values: name].flatMap(parse)
    }

    /// Returns the challenges of one field value. The parser accepts every input and skips invalid text up to the next
    /// comma.
    package static func parse(_ line: String) -> [AuthenticationChallenge] {
        var (scanner, challenges) = (FieldScanner(line), [AuthenticationChallenge]())
        var (scheme, parameters, token68): (String?, [String: String], String?) = (nil, [:], nil)
        func finish() {
            guard let scheme else { return }
            challenges.append(.init(scheme: scheme, parameters: parameters, token68: token68))
        }
        while !scanner.isAtEnd {
            scanner.skipSpace()
            // The text is a parameter of the previous scheme, or the next scheme with an optional first parameter.
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
