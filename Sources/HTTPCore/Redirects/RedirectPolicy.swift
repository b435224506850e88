#if Networking
/// Which redirects are followed, and how (rule R7).
public struct RedirectPolicy: Hashable, Sendable, Codable {
    /// What becomes of the method.
    public enum Methods: String, Hashable, Sendable, Codable {
        /// As RFC 9110 says and browsers do: 301 and 302 make a GET of a POST, 303 makes a GET of all but HEAD; then there
        /// is no body any more. 307 and 308 keep method and body.
        case standard
        /// Method and body stay, as after 307 and 308.
        case kept
    }

    /// If false, the response that redirects is the response.
    public var follows: Bool
    /// How many are followed for one request; one more fails it with `HTTPError.Reason.tooManyRedirects`.
    public var limit: Int
    public var methods: Methods
    /// Whether one may lead from `https` to `http`; else it fails the request with `HTTPError.Reason.redirectRefused`.
    public var allowsDowngrade: Bool
    /// Names of fields with credentials which, like Authorization, Proxy-Authorization and Cookie, never follow to another
    /// origin. Upper and lower case are the same.
    public var credentialFields: Set<String>

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

    /// Five are followed.
    public static let standard = RedirectPolicy()
    /// The response is given as it is.
    public static let none = RedirectPolicy(follows: false)
}
#endif
