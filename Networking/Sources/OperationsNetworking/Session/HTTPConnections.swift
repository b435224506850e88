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
    /// The event loops of all clients.
    private let loops: [any EventLoop]
    let line: ConnectionLine

    private struct Clients {
        var current: HTTPClient
        /// All clients by their proxy credential, including the current client. Requests of earlier clients continue.
        var all: [HTTPCredential?: HTTPClient]
        /// The number of times the current client was replaced.
        var logins = 0
    }

    init(_ configuration: HTTPSession.Configuration) {
        self.configuration = configuration
        let login = configuration.proxy?.login
        let client = Self.client(configuration, login)
        clients = Locked(Clients(current: client, all: [login: client]))
        loops = Array(client.eventLoopGroup.makeIterator())
        line = ConnectionLine(connections: configuration.connectionsPerHost)
    }

    // Does not wait for the shutdown: the last reference may end on an event loop's thread, which would wait for itself.
    deinit {
        for client in clients.withLock({ $0.all }).values { client.shutdown(queue: .global()) { _ in } }
    }

    private static func client(_ configuration: HTTPSession.Configuration, _ login: HTTPCredential?) -> HTTPClient {
        let trust = configuration.trust
        var settings = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow)
        settings.timeout.connect = TimeAmount(configuration.connectTimeout)
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.connectionsPerHost
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        settings.proxy = configuration.proxy?.setting(login)
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
        let (client, logins) = clients.withLock { ($0.current, $0.logins) }
        let loop = Self.loop(of: loops.count, for: exchange.server, turn: turn)
        try request.begin(exchange, by: client, on: loops[loop])
        return logins
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
