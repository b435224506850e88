import AsyncHTTPClient
public import HTTPCaching
public import HTTPCore
public import Operations

/// The state that HTTP operations share: connections, trust, credentials and a cache. All members are safe to use on any
/// thread.
///
/// The connections are closed when neither the session nor any of its operations is in use.
public final class HTTPSession: Sendable {
    /// The configuration at the time of creation.
    public let configuration: Configuration
    let connections: HTTPConnections
    let ticker: Ticker
    let throttle: Throttle
    let watch: HTTPWatch
    private let changes = Locked(0)
    /// The requests in the background that belong to no client; nil without a cache, and in the background itself.
    private let revalidations: OperationQueue?

    /// Creates a session.
    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        connections = HTTPConnections(configuration)
        ticker = configuration.ticker
        throttle = Throttle(rate: configuration.bandwidth, ticker: ticker)
        watch = HTTPWatch(ticker)
        revalidations = configuration.cache == nil ? nil : Self.revalidationQueue()
        if !configuration.trust.isVerificationOn {
            warn("an HTTPSession verifies no certificates: others on the network can read and change its data")
        }
    }

    /// Creates a session for a request in the background. It shares the connections and caps of another session, but does not
    /// keep that session in use.
    init(inBackgroundOf session: HTTPSession) {
        configuration = session.configuration
        connections = session.connections
        ticker = session.ticker
        throttle = session.throttle
        watch = HTTPWatch(ticker)
        revalidations = nil
    }

    deinit {
        watch.close()
        revalidations?.cancelAllOperations()
    }

    private static func revalidationQueue() -> OperationQueue {
        let queue = OperationQueue()
        queue.name = "HTTP revalidations"
        queue.maxConcurrentOperationCount = 4
        queue.setLimitPerKey(1)
        queue.inheritsTaskContext = false
        return queue
    }

    /// Runs a request in the background that belongs to no client.
    func revalidate(_ operation: HTTPOperation) {
        try? revalidations?.tryAddOperation(
            operation, limitKey: operation.transfer.address?.origin.description ?? "")
    }

    /// The shared session, with the default configuration.
    public static let shared = HTTPSession()

    /// The largest rate of body bytes of all requests together, in both directions, in bytes per second; nil for no cap. A
    /// change takes effect at once. Waiting requests share the rate by bytes.
    public var bandwidth: UInt64? {
        get { throttle.rate }
        set { throttle.rate = newValue }
    }

    /// The rate of body bytes in both directions over the last five seconds, in bytes per second. Responses from the cache do
    /// not count.
    public var measuredBandwidth: Double { throttle.measuredRate }

    // MARK: - Changes

    /// Counts a request that is not safe and has been answered, has failed, or has ended. The server may have acted on the
    /// request.
    func noteChange() { changes.withLock { $0 += 1 } }

    /// The number of changes that the session's requests may have made so far. A request does not join a transfer from before
    /// the latest change. The count covers all servers, because a redirect may lead from any server to the changed one.
    package var changeCount: Int { changes.withLock { $0 } }

    // MARK: - Configuration

    /// The configuration of a session.
    public struct Configuration: Sendable {
        /// The trust in servers.
        public var trust = HTTPTrust()
        /// The proxy for all requests; nil for none.
        public var proxy: HTTPProxy?
        /// The longest time to establish a connection: name resolution, TCP and TLS.
        ///
        /// Waiting while `connectionsPerHost` connections are in use does not count. Waiting does count at an HTTP/2 server
        /// that permits fewer than 100 concurrent requests.
        public var connectTimeout = Duration.seconds(10)
        /// The largest number of HTTP/1 connections to one host; at least 1. Further requests wait in the order of arrival. A
        /// proxy is one host for all requests that it forwards.
        public var connectionsPerHost = 8
        /// Whether the session may use HTTP/2.
        public var allowsHTTP2 = true
        /// The largest rate of body bytes in bytes per second; nil for no cap. ``HTTPSession/bandwidth`` changes the rate
        /// later.
        public var bandwidth: UInt64?
        /// The retry policy; nil for no retries. A retry needs a request whose marking permits it, and a failure that may be
        /// temporary. If the server's `Retry-After` is longer than the policy's delay, the request waits for `Retry-After`. A
        /// waiting request occupies no slot.
        public var retryPolicy: RetryPolicy?
        /// The longest `Retry-After` that a request waits for. If the server asks for a longer wait, the request fails at once,
        /// and the error's `response` contains the field. A `Retry-After` of more than a year counts as one year.
        public var longestRetryAfter = Duration.seconds(120)
        /// The cache, which each request uses by its policy; nil for no cache.
        public var cache: HTTPCache?
        /// The source of credentials for challenges of servers and proxies; nil for none.
        public var credentials: (any HTTPCredentialSource)?
        /// A function that may change a redirect. If the function returns false, the request ends with the redirecting
        /// response.
        public var redirectHandler: (@Sendable (inout HTTPRedirect) async -> Bool)?
        var ticker = Ticker(ContinuousClock())
        var fileSteps: FileStepHook?

        /// Creates the default configuration.
        public init() {}

        /// Sets the clock for time limits, rates and metrics.
        public mutating func setClock(_ clock: some Clock<Duration>) { ticker = Ticker(clock) }
    }
}

/// A proxy for all requests of a session.
///
/// Requests for `https` pass through tunnels, and so do all requests through a SOCKS proxy. An HTTP proxy forwards the requests
/// for `http` itself, as many proxies open tunnels to port 443 only. It can read and change these requests.
public struct HTTPProxy: Sendable {
    var host: String
    var port: Int
    var isSOCKS = false
    var login: HTTPCredential?

    /// Returns an HTTP proxy.
    ///
    /// With a user name, the session sends name and password without a challenge. If the proxy refuses them, or without a user
    /// name, the session asks its `credentials`.
    public static func http(_ host: String, port: Int, user: String? = nil, password: String = "") -> HTTPProxy {
        HTTPProxy(host: host, port: port, login: user.map { .password(user: $0, password: password) })
    }

    /// Returns a SOCKS proxy.
    public static func socks(_ host: String, port: Int) -> HTTPProxy {
        HTTPProxy(host: host, port: port, isSOCKS: true)
    }

    /// The proxy as a server that forwards requests; nil for SOCKS, and for a host that no URL can contain.
    var forwardingOrigin: HTTPAddress.Origin? {
        let isIPv6 = host.contains(":") && !host.hasPrefix("[")
        return isSOCKS ? nil : HTTPAddress("http://\(isIPv6 ? "[\(host)]" : host):\(port)/")?.origin
    }

    func setting(_ login: HTTPCredential?) -> HTTPClient.Configuration.Proxy {
        if isSOCKS { return .socksServer(host: host, port: port) }
        return switch login {
        case nil: .server(host: host, port: port)
        case .password(let user, let password):
            .server(host: host, port: port, authorization: .basic(username: user, password: password))
        case .bearer(let token): .server(host: host, port: port, authorization: .bearer(tokens: token))
        }
    }
}

/// A source of answers to challenges. A source may suspend, for instance to ask the user.
public protocol HTTPCredentialSource: Sendable {
    /// Returns the credential for a challenge; nil to accept the response as it is. The session calls this method once per
    /// challenge.
    func credential(for challenge: HTTPChallenge) async -> HTTPCredential?
}
