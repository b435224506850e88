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
        self.init(scheme: scheme, authority: authority, path: request.path ?? "/")
    }

    /// Returns nil unless the text is an absolute http or https URL.
    package init?(_ url: String) {
        guard let address = HTTPAddress(url) else { return nil }
        self.init(address)
    }

    private init(_ address: HTTPAddress) {
        (scheme, authority, path) = (address.origin.scheme.rawValue, address.origin.authority, address.requestTarget)
    }

    private init?(scheme: String, authority: String, path: String) {
        let scheme = scheme.lowercased()
        guard scheme == "http" || scheme == "https" else { return nil }
        var host = authority.lowercased()
        if let user = host.lastIndex(of: "@") { host = String(host[host.index(after: user)...]) }
        let port = scheme == "http" ? ":80" : ":443"
        if host.hasSuffix(port) { host.removeLast(port.count) } else if host.hasSuffix(":") { host.removeLast() }
        guard !host.isEmpty else { return nil }
        let visible = path.prefix { $0 != "#" }
        self.scheme = scheme
        self.authority = host
        self.path = visible.hasPrefix("/") ? String(visible) : "/\(visible)"
    }

    /// Resolves the reference in a header such as `Location`. Returns nil if the address has another origin.
    package func sameOrigin(_ reference: String) -> TargetURI? {
        guard let target = HTTPAddress(key)?.resolving(reference).map(TargetURI.init), target.scheme == scheme,
            target.authority == authority
        else { return nil }
        return target
    }
}
