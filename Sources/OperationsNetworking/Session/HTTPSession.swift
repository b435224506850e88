#if Networking
import AsyncHTTPClient
public import HTTPCaching
public import HTTPCore
public import Operations

/// What HTTP operations share: connections, trust, credentials, a cache. Safe on any thread.
///
/// The connections are closed when neither it nor any of its operations is used any longer.
public final class HTTPSession: Sendable {
    public let configuration: Configuration
    let connections: HTTPConnections
    let ticker: Ticker
    let throttle: Throttle
    let watch: HTTPWatch
    private let changes = Locked(0)

    public init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        connections = HTTPConnections(configuration)
        ticker = configuration.ticker
        throttle = Throttle(rate: configuration.bandwidth, ticker: ticker)
        watch = HTTPWatch(ticker)
        if !configuration.trust.isVerificationOn {
            Log.warning("an HTTPSession verifies no certificates: anybody can read and change what it loads")
        }
    }

    deinit { watch.close() }

    /// With the configuration as it is made.
    public static let shared = HTTPSession()

    /// At most so many bytes of bodies a second, of all requests together and both ways; nil for no cap (rule R13). Those who
    /// wait share it by bytes. What is set takes effect at once.
    public var bandwidth: UInt64? {
        get { throttle.rate }
        set { throttle.rate = newValue }
    }

    /// Bytes of bodies a second, both ways, over the last five seconds. What comes from the cache does not count.
    public var measuredBandwidth: Double { throttle.measuredRate }

    // MARK: - Changes

    /// A request that is not safe has been answered, has failed, or has ended: a server may have acted on it.
    func noteChange() { changes.withLock { $0 += 1 } }

    /// How many changes the session's requests may have made so far. A request does not join a transfer from before
    /// the latest change. It counts for all servers together: a redirect may lead from any server to the changed one.
    package var changeCount: Int { changes.withLock { $0 } }

    // MARK: - Configuration

    public struct Configuration: Sendable {
        public var trust = HTTPTrust()
        public var proxy: HTTPProxy?
        /// To have a connection: names, TCP and TLS. What a request waits before, while `connectionsPerHost` are in use, does
        /// not count; but where a server speaks HTTP/2 and takes fewer than 100 requests at a time, waiting for one of them.
        public var connectTimeout = Duration.seconds(10)
        /// Connections of HTTP/1 to one host; at least one. More requests than these wait in the order in which they come.
        public var connectionsPerHost = 8
        public var allowsHTTP2 = true
        /// At most so many bytes of bodies a second; nil for no cap. A session's `bandwidth` changes it.
        public var bandwidth: UInt64?
        /// For requests whose marking permits it, when they fail in a way that may pass. A server's `Retry-After` is waited
        /// for, if it is longer. No slot is held while waiting.
        public var retryPolicy: RetryPolicy?
        /// The longest `Retry-After` that is waited for, at most a day. A request whose server asks for a longer wait fails at
        /// once; the error's `response` has the field.
        public var longestRetryAfter = Duration.seconds(120)
        /// For all requests, as their policy says; nil for none.
        public var cache: HTTPCache?
        /// Where credentials come from when a server or proxy asks for them.
        public var credentials: (any HTTPCredentialSource)?
        /// Changes a redirect, or refuses it by answering false; then the response that redirects is the response.
        public var redirectHook: (@Sendable (inout HTTPRedirect) async -> Bool)?
        var ticker = Ticker(ContinuousClock())
        var fileSteps: FileStepHook?

        public init() {}

        /// Time-outs and rates are measured by this clock.
        public mutating func setClock(_ clock: some Clock<Duration>) { ticker = Ticker(clock) }
    }
}

/// A proxy for all requests of a session, through which each connection is a tunnel.
public struct HTTPProxy: Sendable {
    var host: String
    var port: Int
    var isSOCKS = false
    var login: HTTPCredential?

    /// With a name and password that it gets unasked. If it refuses them, or there are none, the session's `credentials` are
    /// asked.
    public static func http(_ host: String, port: Int, user: String? = nil, password: String = "") -> HTTPProxy {
        HTTPProxy(host: host, port: port, login: user.map { .password(user: $0, password: password) })
    }

    public static func socks(_ host: String, port: Int) -> HTTPProxy {
        HTTPProxy(host: host, port: port, isSOCKS: true)
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

/// Answers challenges (rule R8). It may suspend, for instance to ask a person.
public protocol HTTPCredentialSource: Sendable {
    /// The credential for this challenge; nil for none, and the response stands as it is. Asked once for each challenge.
    func credential(for challenge: HTTPChallenge) async -> HTTPCredential?
}
#endif
