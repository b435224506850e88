import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
import Operations
@testable import OperationsNetworking
import TestSupport
import Testing

/// The first lines of requests, also of those for `http` that a proxy forwards. A server plays the proxy.
@Suite(.timeLimit(.minutes(5))) struct RequestTargetTests {
    private let queue = OperationQueue()

    private final class Wallet: HTTPCredentialSource {
        let asked = Guarded<[String?]>([])
        let credential: HTTPCredential?

        init(_ credential: HTTPCredential?) { self.credential = credential }

        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
            asked.withLock { $0.append(challenge.origin) }
            return challenge.origin == nil ? credential : nil
        }
    }

    private func through(
        _ proxy: HTTPTestServer, user: String? = nil, password: String = "", host: String = "127.0.0.1",
        _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
    ) -> HTTPSession {
        .plain {
            $0.proxy = .http(host, port: proxy.port, user: user, password: password)
            change(&$0)
        }
    }

    private func load(_ request: HTTPRequestDescription, _ session: HTTPSession) async throws -> String {
        let operation = HTTPDataOperation(request, as: .text, session: session)
        queue.addOperation(operation)
        return try await operation.value
    }

    @Test(arguments: [HTTPTestServer.Configuration.TransportProtocol.http1, .http2])
    func `a server gets the target of the address, with every escape as it is written`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        let targets = [
            "/%E4", "/%FC%80/a?b=%E4", "/100%", "/%zz?a=%zz&b=%5B1%5D", "/a?b=%", "/%2F%2f%00", "//a//b?", "/a;b:c@d",
            "/%C3%A4",
        ]
        let field = try #require(HTTPField.Name("request-target"))
        try await withServer({ .text($0.fields[field] ?? "none") }, .init(protocol: version)) { server in
            let session = try HTTPSession.trusting(server)
            for (target, method) in targets.flatMap({ [($0, HTTPRequest.Method.get), ($0, .post)] }) {
                let body = method == .get ? HTTPRequestBody.none : .bytes(Data("body".utf8))
                let request = HTTPRequestDescription(method, server.url + target, body: body)
                let text = try await load(request, session)
                #expect(text == "none" && server.requests.last?.target == target)
            }
        }
    }

    @Test(
        arguments: [
            ("http://name.invalid", "http://name.invalid/", "name.invalid"),
            ("http://name.invalid/%E4?%", "http://name.invalid/%E4?%", "name.invalid"),
            ("http://name.invalid:80/a%20b?c=d%26#e", "http://name.invalid/a%20b?c=d%26", "name.invalid"),
            ("http://Name.invalid:8080/a/../b/", "http://name.invalid:8080/b/", "name.invalid:8080"),
            ("http://[::9]:1/?", "http://[::9]:1/?", "[::9]:1"),
        ])
    func `a proxy gets the absolute address, and is never asked for a tunnel`(
        url: String, target: String, authority: String
    ) async throws {
        try await withServer({ _ in .text("forwarded") }) { proxy in
            let session = through(proxy)
            let text = try await load(get(url), session)
            #expect(text == "forwarded")
            var post = HTTPRequestDescription(.post, url, body: .bytes(Data("body".utf8)))
            post.fields[.contentType] = "text/plain"
            let answer = try await load(post, session)
            #expect(answer == "forwarded")
            #expect(proxy.requests.map(\.method) == [.get, .post] && proxy.requests.last?.body == Array("body".utf8))
            for request in proxy.requests {
                #expect(request.target == target && request.authority == authority)
                #expect(request.fields[.proxyAuthorization] == nil)
            }
        }
    }

    @Test func `redirects, challenges of the server and the cache work through a proxy`() async throws {
        let url = "http://name.invalid"
        try await withServer({ request in
            switch request.target {
            case url + "/": .redirect(to: "/there")
            case url + "/there" where request.fields[.authorization] == nil: .unauthorized(["Basic realm=\"a\""])
            case url + "/there": .redirect(to: "http://other.invalid/end")
            case "http://other.invalid/end":
                LoopbackResponse(
                    fields: [.contentType: "text/plain", .cacheControl: "max-age=60"],
                    body: .text(request.fields[.authorization] ?? "end"))
            default: .notFound
            }
        }) { proxy in
            struct Password: HTTPCredentialSource {
                func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
                    challenge.origin == nil ? nil : .password(user: "a", password: "b")
                }
            }
            let session = through(proxy) {
                $0.credentials = Password()
                $0.cache = .inMemory()
            }
            for _ in 0..<2 {
                let text = try await load(get(url + "/"), session)
                #expect(text == "end")
            }
            #expect(proxy.requests.filter { $0.target.hasSuffix("end") }.count == 1)
        }
    }

    private static let challenge = LoopbackResponse(
        .proxyAuthenticationRequired, fields: [.proxyAuthenticate: "Negotiate, Basic realm=\"p\""], body: .text("no"))

    @Test func `a proxy's challenge is answered once for all requests, also if the request has a body`() async throws {
        try await withServer({ request in
            guard request.fields[.proxyAuthorization] == "Basic YTpi" else { return Self.challenge }
            return .text("\(request.bodyLength)")
        }) { proxy in
            let wallet = Wallet(.password(user: "a", password: "b"))
            let session = through(proxy) { $0.credentials = wallet }
            let post = HTTPRequestDescription(.post, "http://name.invalid/", body: .bytes(Data(count: 100_000)))
            for _ in 0..<3 {
                let text = try await load(post, session)
                #expect(text == "100000")
            }
            let other = try await load(get("http://other.invalid/"), session)
            #expect(other == "0")
            #expect(wallet.asked.withLock { $0 } == [nil] && proxy.requests.count == 5)
            #expect(proxy.requests.allSatisfy { $0.fields[.authorization] == nil })
        }
    }

    @Test func `a login in advance avoids the challenge, and a refused login is a specific error`() async throws {
        try await withServer({ request in
            request.fields[.proxyAuthorization] == "Basic YTpi" ? .text("forwarded") : Self.challenge
        }) { proxy in
            let text = try await load(get("http://name.invalid/"), through(proxy, user: "a", password: "b"))
            #expect(text == "forwarded")
            #expect(proxy.requests.count == 1)
            for credential in [nil, .password(user: "a", password: "x"), .bearer("x")] as [HTTPCredential?] {
                let wallet = Wallet(credential)
                let session = through(proxy, user: "a", password: "x") { $0.credentials = wallet }
                let why = await reason { try await load(get("http://name.invalid/"), session) }
                #expect(why?.text == "unauthorized" && wallet.asked.withLock { $0.count } == 1)
            }
        }
    }

    @Test func `a challenge without a supported scheme is a specific error`() async throws {
        try await withServer({ _ in
            LoopbackResponse(
                .proxyAuthenticationRequired, fields: [.proxyAuthenticate: "Digest realm=\"p\", nonce=\"n\""])
        }) { proxy in
            let wallet = Wallet(.password(user: "a", password: "b"))
            let session = through(proxy) { $0.credentials = wallet }
            #expect(await reason { try await load(get("http://name.invalid/"), session) }?.text == "unauthorized")
            #expect(proxy.requests.count == 1)
        }
    }

    @Test func `all servers share the connections to their proxy`() async throws {
        try await withServer({ _ in .text("forwarded") }) { proxy in
            let session = through(proxy) { $0.connectionsPerHost = 1 }
            let operations = (0..<10).map {
                HTTPDataOperation(get("http://name\($0).invalid/"), as: .text, session: session)
            }
            await queue.addOperations(operations, waitUntilFinished: true)
            for operation in operations {
                let text = try await operation.value
                #expect(text == "forwarded")
            }
            #expect(Set(proxy.requests.map(\.connection)).count == 1 && proxy.requests.count == 10)
        }
    }

    @Test(arguments: [("::1", "http://[::1]:9"), ("[::1]", "http://[::1]:9"), ("proxy.Test", "http://proxy.test:9")])
    func `the address of a proxy can have any form`(host: String, origin: String) {
        #expect(HTTPProxy.http(host, port: 9).forwardingOrigin?.description == origin)
        #expect(HTTPProxy.socks(host, port: 9).forwardingOrigin == nil)
        #expect(HTTPProxy.http("a b", port: 9).forwardingOrigin == nil)
    }
}
