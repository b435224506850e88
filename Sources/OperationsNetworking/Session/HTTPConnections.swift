#if Networking
import AsyncHTTPClient
import Dispatch
import HTTPCore
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOHTTPCompression
import NIOSSL
import Operations

/// Sends requests and receives responses: the pool of connections of a session. It neither follows redirects nor answers
/// challenges; that is decided above it.
final class HTTPConnections: Sendable {
    private let configuration: HTTPSession.Configuration
    private let clients: Locked<Clients>

    private struct Clients {
        var current: HTTPClient
        /// By what they are logged in with at the proxy, the current one included. What the others have begun goes on.
        var all: [HTTPCredential?: HTTPClient]
        /// How often there was another current one.
        var changes = 0
    }

    init(_ configuration: HTTPSession.Configuration) {
        self.configuration = configuration
        let login = configuration.proxy?.login
        let client = Self.client(configuration, login)
        clients = Locked(Clients(current: client, all: [login: client]))
    }

    // Not waited for: the last reference may go on a thread of the event loops, which it would wait for.
    deinit {
        for client in clients.withLock({ $0.all }).values { client.shutdown(queue: .global()) { _ in } }
    }

    private static func client(_ configuration: HTTPSession.Configuration, _ login: HTTPCredential?) -> HTTPClient {
        let trust = configuration.trust
        var settings = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow,
            decompression: .enabled(limit: .none))
        settings.timeout.connect = TimeAmount(configuration.connectTimeout)
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.connectionsPerHost
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        settings.proxy = configuration.proxy?.setting(login)
        settings.http1_1ConnectionDebugInitializer = { trust.check($0) }
        settings.http2ConnectionDebugInitializer = { trust.check($0) }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// - Throws: `ProxyRefusal`; else what the connection, or async-http-client, says.
    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let (client, login) = clients.withLock { ($0.current, $0.changes) }
        do {
            return try await client.execute(request, deadline: .distantFuture)
        } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
            throw ProxyRefusal(login: login)
        }
    }

    // MARK: - Logging in at the proxy

    /// Somebody else has done it since: it may be enough to ask again.
    func hasLoggedIn(since refusal: ProxyRefusal) -> Bool { clients.withLock { $0.changes } != refusal.login }

    /// For all requests that are sent from now on. No effect if somebody else was faster.
    func logIn(with credential: HTTPCredential, after refusal: ProxyRefusal) {
        // Wrong credentials make no client for each who has them.
        let new = clients.withLock { $0.all[credential] } ?? Self.client(configuration, credential)
        let known = clients.withLock { clients in
            if clients.changes == refusal.login {
                clients.changes += 1
                clients.current = clients.all[credential] ?? new
                clients.all[credential] = clients.current
            }
            return clients.all[credential]
        }
        if known !== new { new.shutdown(queue: .global()) { _ in } }
    }
}

/// The proxy does not let in who is logged in like this, or not at all.
struct ProxyRefusal: Error {
    /// How often somebody had logged in before.
    let login: Int
}

extension TimeAmount {
    init(_ duration: Duration) { self = .nanoseconds(Int64(clamping: duration.wholeNanoseconds)) }
}
#endif
