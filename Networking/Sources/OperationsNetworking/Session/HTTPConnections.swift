import AsyncHTTPClient
import Dispatch
import HTTPCore
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Operations
import Tracing

/// The connection pool of a session, which sends requests and receives responses. Redirects and challenges are handled above
/// this type.
final class HTTPConnections: Sendable {
    private let configuration: HTTPSession.Configuration
    private let clients: Locked<Clients>
    /// The client that sends requests for `http` to a proxy, which forwards them; nil without an HTTP proxy.
    private let forwarder: (client: HTTPClient, proxy: HTTPAddress.Origin)?
    /// The event loops of all clients.
    private let loops: [any EventLoop]
    let line: ConnectionLine

    private struct Clients {
        var current: HTTPClient
        /// The proxy credential of the current client.
        var login: HTTPCredential?
        /// All clients by their proxy credential, including the current client. Requests of earlier clients continue.
        var all: [HTTPCredential?: HTTPClient]
        /// The number of times the current client was replaced.
        var logins = 0
    }

    init(_ configuration: HTTPSession.Configuration) {
        self.configuration = configuration
        let login = configuration.proxy?.login
        let client = Self.client(configuration, login)
        clients = Locked(Clients(current: client, login: login, all: [login: client]))
        forwarder = configuration.proxy?.forwardingOrigin.map { (Self.client(configuration, forwards: true), $0) }
        loops = Array(client.eventLoopGroup.makeIterator())
        line = ConnectionLine(connections: configuration.connectionsPerHost)
    }

    // Does not wait for the shutdown: the last reference may end on an event loop's thread, which would wait for itself.
    deinit {
        for client in clients.withLock({ $0.all }).values { client.shutdown(queue: .global()) { _ in } }
        forwarder?.client.shutdown(queue: .global()) { _ in }
    }

    /// Returns a client whose requests pass through tunnels of the proxy, or go to a proxy that forwards them.
    private static func client(
        _ configuration: HTTPSession.Configuration, _ login: HTTPCredential? = nil, forwards: Bool = false
    ) -> HTTPClient {
        let trust = configuration.trust
        var settings = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow)
        settings.timeout.connect = TimeAmount(configuration.connectTimeout)
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.connectionsPerHost
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        settings.proxy = forwards ? nil : configuration.proxy?.setting(login)
        let ticker = configuration.ticker
        settings.http1_1ConnectionDebugInitializer = { channel in
            trust.check(channel).flatMap { ConnectionProbe.add(to: channel, established: ticker.now()) }
        }
        settings.http2ConnectionDebugInitializer = { channel in
            trust.check(channel).flatMap { ConnectionProbe.prepare(channel, established: ticker.now()) }
        }
        settings.http2StreamChannelDebugInitializer = { ConnectionProbe.add(toStream: $0) }
        // A no-op tracer would still cost a description of each request.
        if settings.tracing.tracer is NoOpTracer { settings.tracing.tracer = nil }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// Sends a request that has a turn.
    ///
    /// - Parameter turn: The number of the turn, which selects an event loop. The client looks for an idle connection on this
    ///   loop first, and opens new connections on it. So a request without a body usually finds a connection on its own loop.
    /// - Returns: The number of proxy logins before this request.
    func begin(_ exchange: Exchange, _ request: OutgoingRequest, turn: Int) throws -> Int {
        let (client, login, logins) = clients.withLock { ($0.current, $0.login, $0.logins) }
        let loop = loops[Self.loop(of: loops.count, for: exchange.server, turn: turn)]
        if let forwarder, forwards(request.address.origin) {
            try request.forwarded(by: forwarder.proxy, login: login).begin(exchange, by: forwarder.client, on: loop)
        } else {
            try request.begin(exchange, by: client, on: loop)
        }
        return logins
    }

    /// Suspends until each event loop has carried out the tasks that it had.
    func untilLoopsHaveCaughtUp() async {
        let turns = loops.map { $0.submit {} }
        for turn in turns { try? await turn.get() }
    }

    // MARK: - Forwarding

    /// Whether requests to a server go to the proxy, which forwards them. Many proxies open tunnels to port 443 only.
    func forwards(_ server: HTTPAddress.Origin) -> Bool { forwarder != nil && server.scheme == .http }

    /// Returns the server at the other end of the connections: the proxy for all servers to which it forwards requests.
    func server(for server: HTTPAddress.Origin) -> HTTPAddress.Origin {
        forwards(server) ? forwarder?.proxy ?? server : server
    }

    /// Returns the index of the event loop for a turn. The hash spreads servers that need only one connection over all loops.
    static func loop(of count: Int, for server: HTTPAddress.Origin, turn: Int) -> Int {
        Int(UInt(bitPattern: server.hashValue &+ turn) % UInt(count))
    }

    // MARK: - Proxy login

    /// The number of proxy logins. A request that was refused after fewer logins may be sent again.
    var logins: Int { clients.withLock { $0.logins } }

    /// Logs in at the proxy for all later requests. No effect if another request has logged in meanwhile.
    func logIn(with credential: HTTPCredential, after logins: Int) {
        // Reuse the client of a known credential, so that wrong credentials do not create clients without end.
        let new = clients.withLock { $0.all[credential] } ?? Self.client(configuration, credential)
        let known = clients.withLock { clients in
            if clients.logins == logins {
                clients.logins += 1
                clients.current = clients.all[credential] ?? new
                clients.login = credential
                clients.all[credential] = clients.current
            }
            return clients.all[credential]
        }
        if known !== new { new.shutdown(queue: .global()) { _ in } }
    }
}

extension TimeAmount {
    init(_ duration: Duration) { self = .nanoseconds(Int64(clamping: duration.wholeNanoseconds)) }
}
