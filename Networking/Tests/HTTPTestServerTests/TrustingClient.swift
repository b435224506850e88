import AsyncHTTPClient
import HTTPTestServer
import NIOCore
import NIOSSL

/// An independent client that trusts a server's root certificate during a test.
enum TrustingClient {
    @discardableResult
    static func with<Result>(
        _ server: HTTPTestServer, redirects: HTTPClient.Configuration.RedirectConfiguration? = nil,
        decompression: HTTPClient.Decompression = .disabled, http1Only: Bool = false,
        _ body: (HTTPClient) async throws -> Result
    ) async throws -> Result {
        var configuration = HTTPClient.Configuration(redirectConfiguration: redirects ?? .disallow)
        configuration.decompression = decompression
        // Without this setting, the client retries after a refused certificate until the time limit for connecting.
        configuration.connectionPool.retryConnectionEstablishment = false
        if http1Only { configuration.httpVersion = .http1Only }
        if let certificates = server.certificates {
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .certificates([try NIOSSLCertificate(bytes: certificates.rootDER, format: .der)])
            configuration.tlsConfiguration = tls
        }
        let client = HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
        do {
            let result = try await body(client)
            try await client.shutdown()
            return result
        } catch {
            try? await client.shutdown()
            throw error
        }
    }
}

extension HTTPClient {
    func get(_ url: String) async throws -> HTTPClientResponse {
        try await execute(HTTPClientRequest(url: url), deadline: .distantFuture)
    }
}

extension HTTPClientResponse {
    var text: String {
        get async throws { String(buffer: try await body.collect(upTo: 1 << 24)) }
    }
}
