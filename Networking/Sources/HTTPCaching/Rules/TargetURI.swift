import HTTPCore
package import HTTPTypes

/// The address that identifies stored responses: scheme and host in lower case, without default port, user and
/// fragment.
package struct TargetURI: Hashable, Sendable {
    package let scheme: String
    /// The host, and the port unless it is the default port of the scheme.
    package let authority: String
    /// The path and the query, at least `/`.
    package let path: String

    package var key: String { "\(scheme)://\(authority)\(path)" }

    /// Returns nil unless the request has a scheme and an authority, and the scheme is http or https.
    package init?(_ request: HTTPRequest) {
        guard let scheme = request.scheme, let authority = request.authority else { return nil }
        let path = request.path ?? "/"
        self.init("\(scheme)://\(authority)\(path.hasPrefix("/") ? "" : "/")\(path)")
    }

    /// Returns nil unless the text is an absolute http or https URL.
    package init?(_ url: String) {
        guard let address = HTTPAddress(url) else { return nil }
        self.init(address)
    }

    private init(_ address: HTTPAddress) {
        (scheme, authority, path) = (address.origin.scheme.rawValue, address.origin.authority, address.requestTarget)
    }

    /// Resolves the reference in a header such as `Location`. Returns nil if the address has another origin.
    package func sameOrigin(_ reference: String) -> TargetURI? {
        guard let target = HTTPAddress(key)?.resolving(reference).map(TargetURI.init), target.scheme == scheme,
            target.authority == authority
        else { return nil }
        return target
    }
}
