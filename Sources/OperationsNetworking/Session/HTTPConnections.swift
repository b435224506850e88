#if Networking
import AsyncHTTPClient
import Dispatch
import HTTPCore
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOSSL
import Operations
import Tracing

/// Sends requests and receives responses: the pool of connections of a session. It neither follows redirects nor answers
/// challenges; that is decided above it.
final class HTTPConnections: Sendable {
    private let configuration: HTTPSession.Configuration
    private let clients: Locked<Clients>
    /// Of all clients.
    private let loops: [any EventLoop]
    let line: ConnectionLine

    private struct Clients {
        var current: HTTPClient
        /// By what they are logged in with at the proxy, the current one included. What the others have begun goes on.
        var all: [HTTPCredential?: HTTPClient]
        /// How often there was another current one.
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

    // Not waited for: the last reference may go on a thread of the event loops, which it would wait for.
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
        // It would make a description of each request for nobody.
        if settings.tracing.tracer is NoOpTracer { settings.tracing.tracer = nil }
        return HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    /// Sends a request whose turn it is.
    ///
    /// - Parameter turn: Its number. New connections are made on the loop that goes with it, and idle ones looked for there
    ///   first: so, as a rule, a request without a body finds a connection of its own loop.
    /// - Returns: How often somebody had logged in at the proxy before.
    func begin(_ exchange: Exchange, _ request: OutgoingRequest, turn: Int) throws -> Int {
        let (client, logins) = clients.withLock { ($0.current, $0.logins) }
        let loop = Self.loop(of: loops.count, for: exchange.server, turn: turn)
        try request.begin(exchange, by: client, on: loops[loop])
        return logins
    }

    /// Servers to which one connection is enough are spread over the loops as well.
    static func loop(of count: Int, for server: HTTPAddress.Origin, turn: Int) -> Int {
        Int(UInt(bitPattern: server.hashValue &+ turn) % UInt(count))
    }

    // MARK: - Logging in at the proxy

    /// Who finds more than there were when he was refused may ask again.
    var logins: Int { clients.withLock { $0.logins } }

    /// For all requests that are sent from now on. No effect if somebody else was faster.
    func logIn(with credential: HTTPCredential, after logins: Int) {
        // Wrong credentials make no client for each who has them.
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
#endif
