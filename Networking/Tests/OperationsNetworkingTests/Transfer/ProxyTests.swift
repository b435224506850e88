import Foundation
import HTTPCore
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// Tunnels through a proxy that asks for credentials (rule R8).
@Suite(.timeLimit(.minutes(5))) struct ProxyTests {
    private let queue = OperationQueue()

    /// A credential source with one answer per peer that counts its calls.
    private final class Wallet: HTTPCredentialSource {
        let atProxy: Guarded<HTTPCredential?>
        let asked = Guarded<[String]>([])

        init(_ atProxy: HTTPCredential?) { self.atProxy = Guarded(atProxy) }

        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
            asked.withLock { $0.append(challenge.origin ?? "proxy") }
            return challenge.origin == nil ? atProxy.withLock { $0 } : nil
        }
    }

    private func load(_ url: String, _ session: HTTPSession) async throws -> String {
        let operation = HTTPDataOperation(get(url), as: .text, session: session)
        queue.addOperation(operation)
        return try await operation.value
    }

    /// Runs `body` with a proxy that requires `login`, and waits until the session has closed its connections.
    private func through(
        _ login: String, _ wallet: Wallet, user: String? = nil, password: String = "",
        _ configuration: HTTPTestServer.Configuration = .init(protocol: .http1TLS),
        _ body: (HTTPTestServer, Relay, HTTPSession) async throws -> Void
    ) async throws {
        try await withServer({ _ in .text("through") }, configuration) { server in
            let proxy = try Relay(to: server.port, login: login)
            try await body(
                server, proxy,
                try HTTPSession.trusting(server) {
                    $0.proxy = .http("127.0.0.1", port: proxy.port, user: user, password: password)
                    $0.credentials = wallet
                })
            await proxy.isDeserted()
        }
    }

    @Test(arguments: [HTTPTestServer.Configuration.TransportProtocol.http1TLS, .http2])
    func `a proxy's challenge is answered once for all requests, and no server gets the credential`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        let wallet = Wallet(.password(user: "Aladdin", password: "open sesame"))
        try await through("Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", wallet, .init(protocol: version)) {
            server, proxy, session in
            for _ in 0..<3 {
                let text = try await load(server.localhostURL + "/", session)
                #expect(text == "through")
            }
            #expect(wallet.asked.withLock { $0 } == ["proxy"])
            #expect(proxy.counts.refused == 1 && proxy.counts.tunnels >= 1)
            #expect(
                server.requests.allSatisfy { $0.fields[.proxyAuthorization] == nil && $0.fields[.authorization] == nil }
            )
        }
    }

    @Test func `a proxy that gets credentials in advance sends no challenge`() async throws {
        let wallet = Wallet(nil)
        try await through(
            "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", wallet, user: "Aladdin", password: "open sesame"
        ) { server, proxy, session in
            let text = try await load(server.localhostURL + "/", session)
            #expect(text == "through")
            #expect(wallet.asked.withLock { $0 }.isEmpty)
            #expect(proxy.counts.refused == 0)
        }
    }

    @Test(arguments: [nil, .password(user: "a", password: "b"), .bearer("x")] as [HTTPCredential?])
    func `a refusal by a proxy is a specific error`(credential: HTTPCredential?) async throws {
        let wallet = Wallet(credential)
        try await through("nobody", wallet, user: "c", password: "d") { server, proxy, session in
            let why = await reason { try await load(server.localhostURL + "/", session) }
            #expect(why?.text == "unauthorized")
            // The source is asked once, and again after a refusal. The same credential is not sent twice.
            #expect(wallet.asked.withLock { $0.count } == (credential == nil ? 1 : 2))
            #expect(proxy.counts == (credential == nil ? 1 : 2, 0))
            #expect(server.requests.isEmpty)
        }
    }

    @Test func `a late correct credential succeeds, also for later requests`() async throws {
        let wallet = Wallet(.password(user: "a", password: "wrong"))
        try await through("Basic YTpyaWdodA==", wallet) { server, _, session in
            for _ in 0..<3 {
                let why = await reason { try await load(server.localhostURL + "/", session) }
                #expect(why?.text == "unauthorized")
            }
            wallet.atProxy.withLock { $0 = .password(user: "a", password: "right") }
            for _ in 0..<2 {
                let text = try await load(server.localhostURL + "/", session)
                #expect(text == "through")
            }
        }
    }

    @Test func `many concurrently refused requests all succeed after the login`() async throws {
        let wallet = Wallet(.bearer("token"))
        queue.maxConcurrentOperationCount = 20
        try await through("Bearer token", wallet) { server, _, session in
            let operations = (0..<50).map {
                HTTPDataOperation(get(server.localhostURL + "/\($0)"), as: .text, session: session)
            }
            await queue.addOperations(operations, waitUntilFinished: false)
            for operation in operations {
                let text = try await operation.value
                #expect(text == "through")
            }
            #expect(server.requests.count == 50)
        }
    }

    @Test func `a server that imitates a proxy gets no credential`() async throws {
        let wallet = Wallet(.password(user: "a", password: "b"))
        try await withServer({ _ in
            LoopbackResponse(.proxyAuthenticationRequired, fields: [.proxyAuthenticate: "Basic realm=\"a\""])
        }) { server in
            let session = HTTPSession.plain { $0.credentials = wallet }
            let why = await reason { try await load(server.url + "/", session) }
            #expect(why?.text == "unacceptableStatus")
            #expect(wallet.asked.withLock { $0 }.isEmpty && server.requests.count == 1)
        }
    }
}
