#if Networking
/// An absolute `http` or `https` URL in normal form: scheme and host in lower case, no default port, no dot segments, and
/// percent-encoded whatever RFC 3986 does not allow. So equal addresses ask for the same thing.
///
/// What different software reads differently is refused: control characters, several `@`, backslashes or escapes in
/// the authority, hosts that are not ASCII, hosts that end in a number and are no IPv4 address.
package struct HTTPAddress: Hashable, Sendable {
    private struct Parts: Hashable, Sendable {
        let origin: Origin
        var user: String?
        var password: String?
        let path: String
        var query: String?
        var fragment: String?
    }

    /// Behind one reference: an address is handed on far more often than it is made.
    private final class Storage: Sendable {
        let parts: Parts
        /// What is asked for: all but user name, password and fragment.
        let resource: String

        init(_ parts: Parts) {
            self.parts = parts
            var resource = parts.origin.description
            resource += parts.path
            if let query = parts.query { resource += "?\(query)" }
            self.resource = resource
        }
    }

    private let storage: Storage

    private init(_ parts: Parts) { storage = Storage(parts) }

    package var origin: Origin { storage.parts.origin }
    /// Decoded, from the part in front of the `@`.
    package var user: String? { storage.parts.user }
    package var password: String? { storage.parts.password }
    /// Percent-encoded; begins with a slash.
    package var path: String { storage.parts.path }
    /// Percent-encoded, without the question mark.
    package var query: String? { storage.parts.query }
    package var fragment: String? { storage.parts.fragment }
    /// The text of it, without user name, password and fragment.
    package var resource: String { storage.resource }

    package static func == (left: HTTPAddress, right: HTTPAddress) -> Bool {
        left.storage === right.storage || left.storage.parts == right.storage.parts
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(storage.parts) }

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
            let address = HTTPAddress(origin.scheme, own, reference, path: path[...])
            return reference.query == nil ? address.with { $0.query = query } : address
        }
        // Without its last segment, but with the slash in front of it.
        let base = reference.path.first == "/" ? "" : String(path[...path.lastIndex(of: "/")!])
        return HTTPAddress(origin.scheme, own, reference, path: base + reference.path)
    }

    private init(_ scheme: Scheme, _ authority: Authority, _ reference: AddressReference, path: some StringProtocol) {
        let encoded = PercentEncoding.encode(path.utf8, keepsEncoded: true) { $0.isPathByte }
        self.init(
            Parts(
                origin: Origin(scheme: scheme, host: authority.host, port: authority.port ?? scheme.defaultPort),
                user: authority.user, password: authority.password, path: AddressReference.withoutDotSegments(encoded),
                query: reference.query.map { PercentEncoding.encode($0.utf8, keepsEncoded: true) { $0.isQueryByte } },
                fragment: reference.fragment.map {
                    PercentEncoding.encode($0.utf8, keepsEncoded: true) { $0.isQueryByte }
                }))
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

    package var withoutFragment: HTTPAddress { withFragment(nil) }
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

    private func with(_ change: (inout Parts) -> Void) -> HTTPAddress {
        var parts = storage.parts
        change(&parts)
        return parts == storage.parts ? self : HTTPAddress(parts)
    }
}

extension UInt8 {
    fileprivate var isQueryByte: Bool { isPathByte || self == UInt8(ascii: "?") }
}
#endif
