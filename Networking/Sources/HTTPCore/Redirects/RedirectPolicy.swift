/// A policy that determines which redirects the client follows, and with which method.
public struct RedirectPolicy: Hashable, Sendable, Codable {
    /// The rules for the method of the next request.
    public enum Methods: String, Hashable, Sendable, Codable {
        /// The rules of RFC 9110 and of browsers. Statuses 301 and 302 change POST to GET, and 303 changes every method
        /// except HEAD to GET. The next request then has no body. Statuses 307 and 308 keep the method and the body.
        case standard
        /// Every redirect keeps the method and the body, as 307 and 308 do.
        case kept
    }

    /// Whether the client follows redirects. If false, the result is the redirect response.
    public var follows: Bool
    /// The maximum number of redirects for one request. One more redirect fails with
    /// `HTTPError.Reason.tooManyRedirects`.
    public var limit: Int
    /// The rules for the method of the next request.
    public var methods: Methods
    /// Whether a redirect may lead from `https` to `http`. If false, such a redirect fails with
    /// `HTTPError.Reason.redirectRefused`.
    public var allowsDowngrade: Bool
    /// Names of fields with credentials, in any case. The client never sends these fields, Authorization,
    /// Proxy-Authorization and Cookie to another origin after a redirect.
    public var credentialFields: Set<String>

    /// Creates a policy. The default follows up to five redirects and never leads from `https` to `http`.
    public init(
        follows: Bool = true, limit: Int = 5, methods: Methods = .standard, allowsDowngrade: Bool = false,
        credentialFields: Set<String> = []
    ) {
        self.follows = follows
        self.limit = limit
        self.methods = methods
        self.allowsDowngrade = allowsDowngrade
        self.credentialFields = credentialFields
    }

    /// A policy that follows up to five redirects.
    public static let standard = RedirectPolicy()
    /// A policy that follows no redirect and returns the redirect response.
    public static let none = RedirectPolicy(follows: false)
}
