#if Networking
/// An absolute `http` or `https` URL in normal form: scheme and host in lower case, no default port, no dot segments, and
/// percent-encoded whatever RFC 3986 does not allow. So equal addresses ask for the same thing.
///
/// What different software reads differently is refused: control characters, several `@`, backslashes or escapes in
/// the authority, hosts that are not ASCII, hosts that end in a number and are no IPv4 address.
package struct HTTPAddress: Hashable, Sendable {
    package let origin: Origin
    /// Decoded, from the part in front of the `@`.
    package private(set) var user: String?
    package private(set) var password: String?
    /// Percent-encoded; begins with a slash.
    package let path: String
    /// Percent-encoded, without the question mark.
    package private(set) var query: String?
    package private(set) var fragment: String?

    /// Nil if the text is no absolute `http` or `https` URL. Spaces around it do not count.
    package init?(_ text: some StringProtocol) { self.init(bytes: text.utf8) }

    package init?(bytes: some Sequence<UInt8>) {
        guard let reference = AddressReference(bytes), let name = reference.scheme,
            let scheme = Scheme(rawValue: name), let authority = reference.authority.flatMap(Authority.init)
        else { return nil }
        self.init(scheme, authority, reference, path: reference.path)
    }

    /// What a reference means that was found at this address (RFC 3986, section 5). Nil if it leads to something else than
    /// `http` or `https`, or nowhere.
    package func resolving(_ text: some StringProtocol) -> HTTPAddress? { resolving(bytes: text.utf8) }

    package func resolving(bytes: some Sequence<UInt8>) -> HTTPAddress? {
        guard let reference = AddressReference(bytes) else { return nil }
        if let name = reference.scheme {
            guard let scheme = Scheme(rawValue: name), let authority = reference.authority.flatMap(Authority.init)
            else { return nil }
            return HTTPAddress(scheme, authority, reference, path: reference.path)
        }
        if let text = reference.authority {
            guard let authority = Authority(text) else { return nil }
            return HTTPAddress(origin.scheme, authority, reference, path: reference.path)
        }
        let own = Authority(user: user, password: password, host: origin.host, port: origin.port)
        if reference.path.isEmpty {
            var address = HTTPAddress(origin.scheme, own, reference, path: path[...])
            if reference.query == nil { address.query = query }
            return address
        }
        // Without its last segment, but with the slash in front of it.
        let base = reference.path.first == "/" ? "" : String(path[...path.lastIndex(of: "/")!])
        return HTTPAddress(origin.scheme, own, reference, path: base + reference.path)
    }

    private init(_ scheme: Scheme, _ authority: Authority, _ reference: AddressReference, path: some StringProtocol) {
        origin = Origin(scheme: scheme, host: authority.host, port: authority.port ?? scheme.defaultPort)
        (user, password) = (authority.user, authority.password)
        let encoded = PercentEncoding.encode(path.utf8, keepsEncoded: true) { $0.isPathByte }
        self.path = AddressReference.withoutDotSegments(encoded)
        query = reference.query.map { PercentEncoding.encode($0.utf8, keepsEncoded: true) { $0.isQueryByte } }
        fragment = reference.fragment.map { PercentEncoding.encode($0.utf8, keepsEncoded: true) { $0.isQueryByte } }
    }

    package enum Scheme: String, Sendable {
        case http, https

        package var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// Whom one talks to. Credentials for one are none for another.
    package struct Origin: Hashable, Sendable, CustomStringConvertible {
        package let scheme: Scheme
        /// In lower case; an IPv6 address stands in brackets.
        package let host: String
        package let port: Int

        /// Host, and port if it is not the scheme's: what the field `Host` says.
        package var authority: String { port == scheme.defaultPort ? host : "\(host):\(port)" }
        package var description: String { "\(scheme.rawValue)://\(authority)" }
    }

    /// What the request's first line asks for: path and query.
    package var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }

    package var withoutFragment: HTTPAddress { with { $0.fragment = nil } }
    package var withoutCredentials: HTTPAddress { with { ($0.user, $0.password) = (nil, nil) } }

    /// The same with user name and password of `other`.
    package func withCredentials(of other: HTTPAddress) -> HTTPAddress {
        with { ($0.user, $0.password) = (other.user, other.password) }
    }

    package func withFragment(_ fragment: String?) -> HTTPAddress { with { $0.fragment = fragment } }

    /// The same, asking also for what an encoded query says.
    package func appending(query more: String) -> HTTPAddress {
        if more.isEmpty { return self }
        return with { $0.query = $0.query.map { $0.isEmpty ? more : "\($0)&\(more)" } ?? more }
    }

    private func with(_ change: (inout HTTPAddress) -> Void) -> HTTPAddress {
        var copy = self
        change(&copy)
        return copy
    }
}

extension UInt8 {
    fileprivate var isPathByte: Bool { isUnreserved || "!$&'()*+,;=:@/".utf8.contains(self) }
    fileprivate var isQueryByte: Bool { isPathByte || self == UInt8(ascii: "?") }
}
#endif
