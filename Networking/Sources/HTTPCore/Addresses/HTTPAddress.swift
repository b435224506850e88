/// An absolute `http` or `https` URL in normal form, so that equal addresses identify the same resource. The scheme and
/// the host are in lower case. The address has no default port and no dot segments. Characters that RFC 3986 does not
/// allow are percent-encoded.
///
/// The parser rejects text that different programs interpret in different ways. Examples are control characters,
/// several `@`, and backslashes or escapes in the authority. The parser also rejects hosts that are not ASCII, and
/// hosts that end in a number but are not IPv4 addresses.
public struct HTTPAddress: Hashable, Sendable {
    private struct Parts: Hashable, Sendable {
        let origin: Origin
        var user: String?
        var password: String?
        let path: String
        var query: String?
        var fragment: String?
    }

    /// Storage behind one reference. Code copies an address far more often than it creates one.
    private final class Storage: Sendable {
        let parts: Parts
        /// The URL without user name, password and fragment.
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

    public var origin: Origin { storage.parts.origin }
    /// The decoded user name from the part before the `@`.
    public var user: String? { storage.parts.user }
    /// The decoded password from the part before the `@`.
    public var password: String? { storage.parts.password }
    /// The percent-encoded path, which begins with a slash.
    public var path: String { storage.parts.path }
    /// The percent-encoded query without the question mark.
    public var query: String? { storage.parts.query }
    /// The percent-encoded fragment without the number sign.
    public var fragment: String? { storage.parts.fragment }
    /// The text of the URL without user name, password and fragment.
    public var resource: String { storage.resource }

    public static func == (left: HTTPAddress, right: HTTPAddress) -> Bool {
        left.storage === right.storage || left.storage.parts == right.storage.parts
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(storage.parts) }

    /// Returns nil if the text is not an absolute `http` or `https` URL. The parser ignores spaces around the URL.
    public init?(_ text: some StringProtocol) { self.init(bytes: text.utf8) }

    package init?(bytes: some Sequence<UInt8>) {
        guard let reference = AddressReference(bytes), let name = reference.scheme,
            let scheme = Scheme(rawValue: name), let authority = reference.authority.flatMap(Authority.init)
        else { return nil }
        self.init(scheme, authority, reference, path: reference.path)
    }

    /// Resolves a reference that was found at this address (RFC 3986, section 5). Returns nil if the reference is
    /// invalid or has a scheme other than `http` and `https`.
    public func resolving(_ text: some StringProtocol) -> HTTPAddress? { resolving(bytes: text.utf8) }

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
        // The base path without its last segment but with the slash before that segment.
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

    public enum Scheme: String, Sendable {
        case http, https

        public var defaultPort: Int { self == .http ? 80 : 443 }
    }

    /// The scheme, the host and the port of a server. Credentials for one origin are not valid for another origin.
    public struct Origin: Hashable, Sendable, CustomStringConvertible {
        public let scheme: Scheme
        /// The host in lower case. An IPv6 address is in brackets.
        public let host: String
        public let port: Int

        /// The value of the field `Host`: the host, and the port unless it is the default port of the scheme.
        public var authority: String { port == scheme.defaultPort ? host : "\(host):\(port)" }
        public var description: String { "\(scheme.rawValue)://\(authority)" }
    }

    /// The path and the query, as in the first line of a request.
    public var requestTarget: String { query.map { "\(path)?\($0)" } ?? path }

    public var withoutFragment: HTTPAddress { withFragment(nil) }
    public var withoutCredentials: HTTPAddress { with { ($0.user, $0.password) = (nil, nil) } }

    /// Returns the address with the user name and the password of `other`.
    public func withCredentials(of other: HTTPAddress) -> HTTPAddress {
        with { ($0.user, $0.password) = (other.user, other.password) }
    }

    public func withFragment(_ fragment: String?) -> HTTPAddress { with { $0.fragment = fragment } }

    private func with(_ change: (inout Parts) -> Void) -> HTTPAddress {
        var parts = storage.parts
        change(&parts)
        return parts == storage.parts ? self : HTTPAddress(parts)
    }
}

extension UInt8 {
    fileprivate var isQueryByte: Bool { isPathByte || self == UInt8(ascii: "?") }
}
