import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import TestSupport
import Testing

/// A cache with several users and several ways to log in (rules C1 and R8).
@Suite(.timeLimit(.minutes(5))) struct CacheCredentialsTests {
    /// The way in which a request identifies its user.
    enum Login: String, CaseIterable, Sendable {
        case address, base, basic, digest, bearer, field, cookie, declaredField
    }

    private struct Source: HTTPCredentialSource {
        let credential: HTTPCredential

        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { credential }
    }

    private static let names = ["alice", "bob"]

    /// Returns the user of a request; nil for a request without credentials.
    private static func user(of request: LoopbackRequest) -> String? {
        let key = HTTPField.Name("X-Key")!
        let values = [request.fields[.authorization], request.fields[.cookie], request.fields[key]].compactMap(\.self)
        guard let value = values.first else { return nil }
        let encoded = Dictionary(
            uniqueKeysWithValues: names.map { (Data("\($0):secret".utf8).base64EncodedString(), $0) })
        return names.first { value.contains($0) } ?? encoded.first { value.contains($0.key) }?.value
    }

    private func withUsers(_ login: Login, _ body: (HTTPTestServer) async throws -> Void) async throws {
        try await withServer(
            { request in
                let challenge: String? =
                    switch login {
                    case .basic: "Basic realm=\"a\""
                    case .digest: "Digest realm=\"a\", nonce=\"\(request.number)\", qop=\"auth\", algorithm=SHA-256"
                    case .bearer: "Bearer realm=\"a\""
                    default: nil
                    }
                let user = Self.user(of: request)
                if user == nil, let challenge {
                    return LoopbackResponse(.unauthorized, fields: [.wwwAuthenticate: challenge])
                }
                var response = LoopbackResponse.text(user ?? "nobody")
                response.fields[.cacheControl] = "max-age=600"
                return response
            }, body: body)
    }

    private func withServer(
        _ handler: @escaping HTTPTestServer.Handler, body: (HTTPTestServer) async throws -> Void
    ) async throws {
        try await OperationsNetworkingTests.withServer(handler, .init(), body)
    }

    /// Returns the response for a user, and whether it came from the cache.
    private func load(
        as user: String, by login: Login, _ server: HTTPTestServer, _ cache: HTTPCache
    ) async throws -> (text: String, isCached: Bool) {
        let withUser = server.url.replacing("http://", with: "http://\(user):secret@")
        var request = get(server.url + "/me")
        var credential: HTTPCredential?
        switch login {
        case .address: request.url = withUser + "/me"
        case .base: request.url = "me"
        case .basic, .digest: credential = .password(user: user, password: "secret")
        case .bearer: credential = .bearer(user)
        case .field: request.fields[.authorization] = "Bearer \(user)"
        case .cookie: request.fields[.cookie] = "user=\(user)"
        case .declaredField:
            request.fields[HTTPField.Name("X-Key")!] = user
            request.redirects.credentialFields = ["x-KEY"]
        }
        let session = HTTPSession.plain {
            $0.cache = cache
            $0.credentials = credential.map(Source.init)
        }
        let base = login == .base ? withUser + "/" : nil
        let client = try HTTPClientQueue(base: base, session: session)
        let handle = client.load(request, as: .text)
        return (try await handle.value, handle.transfer?.servedFromCache == true)
    }

    @Test(arguments: Login.allCases)
    func `the cache serves a response only to the user of the original request`(login: Login) async throws {
        try await withUsers(login) { server in
            let cache = HTTPCache.inMemory()
            for isCached in [false, true] {
                for user in Self.names {
                    let answer = try await load(as: user, by: login, server, cache)
                    #expect(answer == (user, isCached), "\(user)")
                }
            }
        }
    }

    @Test(arguments: [Login.address, .base, .field, .cookie, .declaredField])
    func `a request without credentials gets no cached response that was loaded with credentials`(
        login: Login
    ) async throws {
        try await withUsers(login) { server in
            let cache = HTTPCache.inMemory()
            _ = try await load(as: "alice", by: login, server, cache)
            let operation = HTTPDataOperation(get(server.url + "/me"), as: .text, session: .plain { $0.cache = cache })
            OperationQueue().addOperation(operation)
            let text = try await operation.value
            #expect(text == "nobody" && !operation.servedFromCache)
        }
    }

    @Test func `a redirect to another origin finds a response that was cached without credentials`() async throws {
        try await OperationsNetworkingTests.withServer({ _ in .text("open") }) { server in
            let other = server.localhostURL + "/open"
            try await OperationsNetworkingTests.withServer({ _ in
                LoopbackResponse(.found, fields: [.location: other, .cacheControl: "no-store"])
            }) { first in
                let cache = HTTPCache.inMemory()
                let session = HTTPSession.plain { $0.cache = cache }
                let queue = OperationQueue()
                for isCached in [false, true] {
                    var request = get(first.url.replacing("http://", with: "http://alice:secret@") + "/")
                    request.cachePolicy = .maxAge(.seconds(600))
                    let operation = HTTPDataOperation(request, as: .text, session: session)
                    queue.addOperation(operation)
                    _ = try await operation.value
                    #expect(operation.servedFromCache == isCached)
                }
            }
        }
    }
}
