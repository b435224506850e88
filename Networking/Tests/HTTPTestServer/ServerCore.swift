import HTTPTypes
import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOSSL

/// The shared state of a server's connections.
final class ServerCore: Sendable {
    let configuration: HTTPTestServer.Configuration
    let ledger: Ledger
    private let identity: ServerIdentity?
    private let handler: HTTPTestServer.Handler

    private struct Connections {
        var isClosed = false
        var open: [ObjectIdentifier: Transport] = [:]
    }

    private let connections = NIOLockedValueBox(Connections())

    init(
        _ configuration: HTTPTestServer.Configuration, _ identity: ServerIdentity?,
        _ handler: @escaping HTTPTestServer.Handler
    ) {
        self.configuration = configuration
        self.identity = identity
        self.handler = handler
        ledger = Ledger(kept: configuration.keptRequests)
    }

    // MARK: - Connections

    /// Builds the pipeline of a new connection.
    func accept(_ channel: any Channel) -> EventLoopFuture<Void> {
        let transport = Transport(channel)
        let id = ObjectIdentifier(channel)
        // `closeConnections` does not see a connection that arrives while the server stops, so the server rejects and
        // does not count it.
        let isClosed = connections.withLockedValue { connections in
            if !connections.isClosed { connections.open[id] = transport }
            return connections.isClosed
        }
        if isClosed { return channel.eventLoop.makeFailedFuture(ChannelError.ioOnClosedChannel) }
        let number = ledger.connectionOpened()
        channel.closeFuture.whenComplete { [self] _ in
            // The order matters: `closeConnections` either finds the connection and waits for it, or finds it counted
            // as closed.
            ledger.connectionClosed()
            connections.withLockedValue { _ = $0.open.removeValue(forKey: id) }
        }
        return channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(transport.handler.value)
            guard let identity else { return try self.addHTTP1(to: channel, transport, number) }
            try pipeline.addHandler(NIOSSLServerHandler(context: identity.context))
            if configuration.protocol == .http1TLS { try self.addHTTP1(to: channel, transport, number) }
        }.flatMap { [self] in
            guard configuration.protocol == .http2 else { return channel.eventLoop.makeSucceededVoidFuture() }
            return negotiate(channel, transport, number)
        }
    }

    private func negotiate(_ channel: any Channel, _ transport: Transport, _ number: Int) -> EventLoopFuture<Void> {
        channel.configureHTTP2SecureUpgrade { [self] channel in
            var connection = NIOHTTP2Handler.ConnectionConfiguration()
            // The server sends invalid responses on purpose.
            connection.headerBlockValidation = .disabled
            connection.contentLengthValidation = .disabled
            connection.targetWindowSize = 1 << 20
            var stream = NIOHTTP2Handler.StreamConfiguration()
            stream.targetWindowSize = 1 << 20
            return channel.configureHTTP2Pipeline(
                mode: .server, connectionConfiguration: connection, streamConfiguration: stream
            ) { [self] stream in
                stream.eventLoop.makeCompletedFuture {
                    try stream.pipeline.syncOperations.addHandler(HTTP2Stream(self, stream, transport, number))
                }
            }.map { _ in }
        } http1ChannelConfigurator: { [self] channel in
            channel.eventLoop.makeCompletedFuture { try addHTTP1(to: channel, transport, number) }
        }
    }

    private func addHTTP1(to channel: any Channel, _ transport: Transport, _ number: Int) throws {
        let pipeline = channel.pipeline.syncOperations
        try pipeline.addHandler(ByteToMessageHandler(HTTPRequestDecoder(leftOverBytesStrategy: .dropBytes)))
        try pipeline.addHandler(HTTP1Connection(self, channel, transport, number))
    }

    /// Closes all connections, waits until they are closed, and rejects new connections.
    func closeConnections() async {
        let open = connections.withLockedValue { connections in
            connections.isClosed = true
            return Array(connections.open.values)
        }
        for transport in open { transport.hangUp() }
        for transport in open { try? await transport.channel.closeFuture.get() }
    }

    // MARK: - Requests

    /// Answers a request with the handler's response. Returns whether the connection can serve another request.
    func answer(_ request: LoopbackRequest, keepsConnection: Bool, to writer: some ResponseWriter) async -> Bool {
        ledger.requestArrived(request)
        let response = await handler(request)
        return await play(response, to: request, keepsConnection: keepsConnection, writer)
    }

    /// Sends a response without a call of the handler. Returns whether the connection can serve another request.
    func play(
        _ response: LoopbackResponse, to request: LoopbackRequest, keepsConnection: Bool, _ writer: some ResponseWriter
    ) async -> Bool {
        let script = ResponseScript(response, to: request.method, keepsConnection: keepsConnection)
        do {
            try await Exchange(writer: writer, ledger: ledger).play(script, body: response.body)
        } catch {
            // The client has closed the connection, which is not an error of the server.
            return false
        }
        return script.keepsConnection
    }

    func assembly(
        _ method: HTTPRequest.Method, _ target: String, _ authority: String?, _ fields: HTTPFields,
        _ version: LoopbackRequest.Version, _ connection: Int
    ) -> RequestAssembly {
        let request = LoopbackRequest(
            method, target, fields: fields, version: version, authority: authority, connection: connection,
            number: ledger.requestBegan())
        return RequestAssembly(request, limit: configuration.bodyLimit, keepsBody: configuration.keepsBodies)
    }
}

extension LoopbackResponse {
    static let tooLarge = LoopbackResponse(.contentTooLarge, body: .text("The body exceeds the limit of the server.\n"))
    static let badRequest = LoopbackResponse(.badRequest, body: .text("The request is not valid HTTP.\n"))
}
