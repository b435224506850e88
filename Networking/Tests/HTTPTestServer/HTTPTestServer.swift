import NIOCore
import NIOPosix

/// An HTTP server on 127.0.0.1 for tests, which produces faults on request and counts connections, requests and bytes.
///
///     let server = try await HTTPTestServer.start { request in
///         .text("You asked for \(request.path).").with(.truncates(after: 10))
///     }
///     // ... requests to server.url ...
///     await server.stop()
///
/// The server listens on a free port of 127.0.0.1. Each request runs its handler in a new task. When the client
/// disconnects, the server cancels the handler's task. Call `stop()` when you no longer need the server, because the
/// port otherwise stays open until the process ends. The method ``with(_:handler:_:)`` calls `stop()`. All servers of a
/// process share two threads.
public final class HTTPTestServer: Sendable {
    /// A function that answers a request. The server calls the function concurrently.
    public typealias Handler = @Sendable (LoopbackRequest) async -> LoopbackResponse

    /// The configuration of the server.
    public let configuration: Configuration
    /// The port on 127.0.0.1.
    public let port: Int
    /// The certificates to trust, or nil without TLS.
    public let certificates: LoopbackCertificates?

    let ledger: Ledger
    private let core: ServerCore
    private let listener: any Channel

    /// The threads of all servers, which the clients under test do not share. The group is never shut down: a write to
    /// a closed event loop never completes, and a handler can write while its server stops.
    private static let group = {
        DescriptorLimit.raise()
        return MultiThreadedEventLoopGroup(numberOfThreads: 2)
    }()

    private init(_ core: ServerCore, _ certificates: LoopbackCertificates?, _ listener: any Channel) {
        configuration = core.configuration
        port = listener.localAddress?.port ?? 0
        self.certificates = certificates
        ledger = core.ledger
        self.core = core
        self.listener = listener
    }

    /// Starts a server. The server listens when the method returns.
    ///
    /// - Throws: ``LoopbackError``.
    public static func start(
        _ configuration: Configuration = Configuration(), handler: @escaping Handler
    ) async throws(LoopbackError) -> HTTPTestServer {
        let identity = try ServerIdentity(configuration)
        let core = ServerCore(configuration, identity, handler)
        let bootstrap = ServerBootstrap(group: group)
            .serverChannelOption(.backlog, value: 256)
            .serverChannelOption(.socketOption(.so_reuseaddr), value: 1)
            .childChannelOption(.tcpOption(.tcp_nodelay), value: 1)
            .childChannelInitializer { core.accept($0) }
        do {
            let listener = try await bootstrap.bind(host: "127.0.0.1", port: 0).get()
            return HTTPTestServer(core, identity?.certificates, listener)
        } catch {
            throw .cannotBind(error)
        }
    }

    /// Starts a server with routes. The server listens when the method returns.
    ///
    /// - Throws: ``LoopbackError``.
    public static func start(
        _ configuration: Configuration = Configuration(), routes: LoopbackRoutes
    ) async throws(LoopbackError) -> HTTPTestServer {
        try await start(configuration) { await routes.answer($0) }
    }

    /// Runs `body` with a server, and stops the server when `body` returns or throws.
    @discardableResult
    public static func with<Result>(
        _ configuration: Configuration = Configuration(), handler: @escaping Handler,
        _ body: (HTTPTestServer) async throws -> Result
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

    /// The server's origin with an IP address and without a trailing slash: `http://127.0.0.1:PORT`.
    public var url: String { "\(scheme)://127.0.0.1:\(port)" }

    /// The same server with another origin: `http://localhost:PORT`.
    public var localhostURL: String { "\(scheme)://localhost:\(port)" }

    /// Closes the port and all connections, cancels the handlers, and waits until the connections are closed. The
    /// method does not wait for handlers that ignore cancellation. Further calls have no effect.
    public func stop() async {
        try? await listener.close()
        await core.closeConnections()
    }
}
