#if Networking
import NIOCore
import NIOPosix

/// A real HTTP server on 127.0.0.1 for tests, which misbehaves on command and counts what happens to it.
///
///     let server = try await LoopbackServer.start { request in
///         .text("You asked for \(request.path).").with(.truncates(after: 10))
///     }
///     // ... requests to server.url ...
///     await server.stop()
///
/// It listens on a free port of 127.0.0.1 and nowhere else. Handlers run as tasks, one a request; a handler whose client
/// is gone is cancelled. `stop()` has to be called, or the port stays open until the process ends; ``with(_:handler:_:)``
/// does it. All servers of a process share two threads.
public final class LoopbackServer: Sendable {
    /// Answers a request. Called concurrently.
    public typealias Handler = @Sendable (LoopbackRequest) async -> LoopbackResponse

    public let configuration: Configuration
    public let port: Int
    /// What to trust; nil without TLS.
    public let certificates: LoopbackCertificates?

    let ledger: Ledger
    private let core: ServerCore
    private let listener: any Channel

    /// The threads of all servers, apart from those of the clients under test. They stay: a write to an event loop that
    /// is shut down never completes, and a handler may be about to write when its server stops.
    private static let group = MultiThreadedEventLoopGroup(numberOfThreads: 2)

    private init(_ core: ServerCore, _ certificates: LoopbackCertificates?, _ listener: any Channel) {
        configuration = core.configuration
        port = listener.localAddress?.port ?? 0
        self.certificates = certificates
        ledger = core.ledger
        self.core = core
        self.listener = listener
    }

    /// Starts a server that listens when this returns.
    ///
    /// - Throws: ``LoopbackError``.
    public static func start(
        _ configuration: Configuration = Configuration(), handler: @escaping Handler
    ) async throws(LoopbackError) -> LoopbackServer {
        let identity = try ServerIdentity(configuration)
        let core = ServerCore(configuration, identity, handler)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { core.accept($0) }
        do {
            let listener = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
            return LoopbackServer(core, identity?.certificates, listener)
        } catch {
            throw .cannotBind(error)
        }
    }

    /// Starts a server with ready-made routes.
    ///
    /// - Throws: ``LoopbackError``.
    public static func start(
        _ configuration: Configuration = Configuration(), routes: LoopbackRoutes
    ) async throws(LoopbackError) -> LoopbackServer {
        try await start(configuration) { await routes.answer($0) }
    }

    /// Runs `body` with a server that is stopped afterwards, whatever happens.
    @discardableResult
    public static func with<Result>(
        _ configuration: Configuration = Configuration(), handler: @escaping Handler,
        _ body: (LoopbackServer) async throws -> Result
    ) async throws -> Result {
        let server = try await start(configuration, handler: handler)
        do {
            let result = try await body(server)
            await server.stop()
            return result
        } catch {
            await server.stop()
            throw error
        }
    }

    private var scheme: String { configuration.protocol.isEncrypted ? "https" : "http" }

    /// The server's origin by address, without a slash at its end: `http://127.0.0.1:PORT`.
    public var url: String { "\(scheme)://127.0.0.1:\(port)" }

    /// The same server as another origin: `http://localhost:PORT`.
    public var localhostURL: String { "\(scheme)://localhost:\(port)" }

    /// Closes the port and all connections at once, cancels the handlers, and waits until the connections are gone. It
    /// does not wait for handlers that take no notice of their cancellation. More calls do nothing.
    public func stop() async {
        try? await listener.close()
        await core.closeConnections()
    }
}
#endif
