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
        /// Those that are logged in at the proxy otherwise, or not at all: what they have begun goes on.
        var former: [HTTPClient] = []
    }

    init(_ configuration: HTTPSession.Configuration) {
        self.configuration = configuration
        clients = Locked(Clients(current: Self.client(configuration, configuration.proxy?.login)))
    }

    // Not waited for: the last reference may go on a thread of the event loops, which it would wait for.
    deinit {
        let clients = clients.withLock { $0 }
        for client in clients.former + [clients.current] { client.shutdown(queue: .global()) { _ in } }
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
        let (client, login) = clients.withLock { ($0.current, $0.former.count) }
        do {
            return try await client.execute(request, deadline: .distantFuture)
        } catch let error as HTTPClientError where error == .proxyAuthenticationRequired {
            throw ProxyRefusal(login: login)
        }
    }

    // MARK: - Logging in at the proxy

    /// Somebody else has done it since: it may be enough to ask again.
    func hasLoggedIn(since refusal: ProxyRefusal) -> Bool { clients.withLock { $0.former.count } != refusal.login }

    /// For all requests that are sent from now on. No effect if somebody else was faster.
    func logIn(with credential: HTTPCredential, after refusal: ProxyRefusal) {
        let new = Self.client(configuration, credential)
        let isUsed = clients.withLock { clients in
            guard clients.former.count == refusal.login else { return false }
            clients.former.append(clients.current)
            clients.current = new
            return true
        }
        if !isUsed { new.shutdown(queue: .global()) { _ in } }
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
