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
    private let client: HTTPClient

    init(_ configuration: HTTPSession.Configuration) {
        let trust = configuration.trust
        var settings = HTTPClient.Configuration(
            tlsConfiguration: trust.configuration, redirectConfiguration: .disallow,
            decompression: .enabled(limit: .none))
        settings.timeout.connect = TimeAmount(configuration.connectTimeout)
        settings.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = configuration.connectionsPerHost
        settings.connectionPool.retryConnectionEstablishment = false
        settings.httpVersion = configuration.allowsHTTP2 ? .automatic : .http1Only
        settings.proxy = configuration.proxy?.setting
        settings.http1_1ConnectionDebugInitializer = { trust.check($0) }
        settings.http2ConnectionDebugInitializer = { trust.check($0) }
        client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: settings)
    }

    // Not waited for: the last reference may go on a thread of the event loops, which it would wait for.
    deinit { client.shutdown(queue: .global()) { _ in } }

    /// - Throws: What the connection, or async-http-client, says.
    func send(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        try await client.execute(request, deadline: .distantFuture)
    }
}

extension TimeAmount {
    init(_ duration: Duration) { self = .nanoseconds(Int64(clamping: duration.wholeNanoseconds)) }
}
#endif
