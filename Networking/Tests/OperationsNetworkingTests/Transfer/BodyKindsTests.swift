import AsyncHTTPClient
import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
import NIOHTTP1
import Operations
@testable import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Empty bodies, and bodies with codings, interim responses or changing lengths.
@Suite(.timeLimit(.minutes(5))) struct BodyKindsTests {
    private let queue = OperationQueue()

    static let protocols = HTTPTestServer.Configuration.TransportProtocol.allCases

    @Test(arguments: protocols) func `HEAD, 204, empty bodies, interim responses and codings work over each protocol`(
        version: HTTPTestServer.Configuration.TransportProtocol
    ) async throws {
        let text = [UInt8](Data(String(repeating: "text ", count: 10_000).utf8))
        let large = LoopbackResource(.pattern(length: 300_000), eTag: "\"a\"")
        let routes = LoopbackRoutes([
            .resource("/large", large), .always("/none", LoopbackResponse(.noContent)),
            .always("/empty", LoopbackResponse()),
            .always("/empty-chunked", LoopbackResponse(framing: .chunked)),
            .always("/interim", LoopbackResponse.text("x").with(.interim(HTTPResponse(status: .init(code: 103))))),
            .encoded("/gzip", LoopbackCompression.gzip(text), encoding: "gzip"),
            .encoded("/br", LoopbackCompression.brotli(text), encoding: "br"),
        ])
        try await withServer({ await routes.answer($0) }, .init(protocol: version)) { server in
            let session = try HTTPSession.trusting(server)
            var head = HTTPRequestDescription(.head, server.url + "/large")
            // Only received bytes count toward the limit.
            head.limits.maxBufferedBytes = 1000
            let brotli = Brotli.shared == nil ? LoopbackCompression.brotli(text) : text
            let cases: [(HTTPRequestDescription, Data)] = [
                (get(server.url + "/br"), Data(brotli)), (HTTPRequestDescription(.head, server.url + "/br"), Data()),
                (head, Data()), (get(server.url + "/none"), Data()), (get(server.url + "/empty"), Data()),
                (get(server.url + "/empty-chunked"), Data()), (get(server.url + "/interim"), Data("x".utf8)),
                (get(server.url + "/gzip"), Data(text)), (HTTPRequestDescription(.head, server.url + "/gzip"), Data()),
            ]
            for (request, expected) in cases {
                let operation = HTTPDataOperation(request, session: session)
                queue.addOperation(operation)
                let outcome = await result { try await operation.value }
                #expect((try? outcome.get()) == expected, "\(request.method) \(request.url): \(outcome)")
            }
            let folder = try Folder()
            for path in ["/none", "/empty", "/empty-chunked", "/gzip"] {
                let download = HTTPDownloadOperation(get(server.url + path), to: folder.file("x"), session: session)
                queue.addOperation(download)
                let file = try await download.value
                #expect(try Data(contentsOf: URL(filePath: file)) == (path == "/gzip" ? Data(text) : Data()))
                #expect(folder.names == ["x"])
            }
        }
    }

    enum Compression: String, CaseIterable {
        case gzip, members, zlib, deflate, brotli

        var coding: String { [.gzip: "gzip", .members: "gzip", .brotli: "br"][self] ?? "deflate" }

        func encoded(_ bytes: [UInt8]) -> [UInt8] {
            switch self {
            case .gzip: LoopbackCompression.gzip(bytes)
            case .members: LoopbackCompression.gzip([1]) + LoopbackCompression.gzip(bytes)
            case .zlib: LoopbackCompression.zlib(bytes)
            case .deflate: LoopbackCompression.deflate(bytes)
            case .brotli: LoopbackCompression.brotli(bytes)
            }
        }
    }

    @Test(arguments: Compression.allCases, [LoopbackResponse.Framing.contentLength, .chunked])
    func `a compressed body without its end is an error, and never a short body`(
        compression: Compression, framing: LoopbackResponse.Framing
    ) async throws {
        guard compression != .brotli || Brotli.shared != nil else { return }
        let whole = compression.encoded(LoopbackBody.pattern(length: 3000).bytes)
        try await withServer({ request in
            // The framing is complete, and only the coded data is not.
            let lacking = Int(request.target.dropFirst()) ?? 0
            return LoopbackResponse(
                fields: [.contentEncoding: compression.coding, .cacheControl: "max-age=60"],
                body: .bytes(whole.dropLast(lacking)), framing: framing)
        }) { server in
            let cache = HTTPCache.inMemory()
            let session = HTTPSession.plain { $0.cache = cache }
            let folder = try Folder()
            for lacking in [1, 5, 1000, whole.count - 1] {
                let request = get(server.url + "/\(lacking)")
                let data = HTTPDataOperation(request, session: session)
                let download = HTTPDownloadOperation(request, to: folder.file("x"), session: session)
                let stream = HTTPStreamOperation(request, session: session)
                for operation in [data, download, stream] as [HTTPOperation] { queue.addOperation(operation) }
                #expect(await reason { try await data.value }?.text == "truncated")
                #expect(await reason { try await download.value }?.text == "truncated")
                #expect(await reason { for try await _ in stream.body {} }?.text == "truncated")
                #expect(!folder.names.contains("x"))
            }
            #expect(await cache.count == 0)
            let complete = HTTPDataOperation(get(server.url + "/0"), session: session)
            queue.addOperation(complete)
            #expect(try await complete.value.suffix(3000) == Data(LoopbackBody.pattern(length: 3000).bytes))
        }
    }

    @Test(arguments: [0, 99, 204, 999, 1000, 70_000]) func `no status of a server crashes the process`(
        code: Int
    ) {
        let response = HTTPResponse(HTTPResponseStatus(statusCode: code), [:])
        #expect(response.status.code == (0...999 ~= code ? code : 999))
    }

    @Test func `a file that grows during an upload is cut, and one that shrinks fails`() async throws {
        let folder = try Folder()
        let path = folder.file("body")
        // More bytes than the buffers of two sockets hold.
        let size = 64 << 20
        for grows in [true, false] {
            let gate = LoopbackGate()
            try Data(count: size).write(to: URL(filePath: path))
            var configuration = HTTPTestServer.Configuration()
            configuration.readsBodyAfter = { _ in gate }
            configuration.keepsBodies = false
            try await withServer({ .text("\($0.bodyLength)") }, configuration) { server in
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(.post, server.url + "/", body: .file(path: path)), session: .plain())
                queue.addOperation(operation)
                await gate.reached()
                let file = try FileHandle(forUpdating: URL(filePath: path))
                try file.truncate(atOffset: UInt64(grows ? size * 2 : 1000))
                try file.close()
                gate.open()
                if grows {
                    let value = try await operation.value
                    #expect(value == Data("\(size)".utf8))
                } else {
                    let outcome = await result { try await operation.value }
                    #expect(throws: HTTPError.self, "\(outcome)") { try outcome.get() }
                    await server.openConnections(are: 0)
                }
            }
        }
    }

    @Test func `sent bytes are counted again when the body is sent again`() async throws {
        let routes = LoopbackRoutes([
            .basic(user: "a", password: "b", then: .echo("/")),
            .redirect("/moved", to: "/", .temporaryRedirect),
        ])
        let server = try await HTTPTestServer.start(routes: routes)
        let session = HTTPSession.plain { $0.credentials = Known() }
        let operation = HTTPDataOperation(
            HTTPRequestDescription(.post, server.url + "/moved", body: .bytes(Data(count: 1000))), session: session)
        queue.addOperation(operation)
        _ = try await operation.value
        #expect(operation.transferProgress.sent == 1000 && operation.transferProgress.toSend == 1000)
        await server.stop()
    }

    @Test func `an unsafe request invalidates the cache, also after a redirect`() async throws {
        let count = Guarded(0)
        try await withServer({ request in
            if request.method == .post {
                count.withLock { $0 += 1 }
                return .redirect(to: "/items", .seeOther)
            }
            var response = LoopbackResponse.text("\(count.withLock { $0 })")
            response.fields[.cacheControl] = "max-age=1000"
            return response
        }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            for (method, expected) in [(HTTPRequest.Method.get, "0"), (.get, "0"), (.post, "1"), (.get, "1")] {
                let operation = HTTPDataOperation(
                    HTTPRequestDescription(method, server.url + "/items"), as: .text, session: session)
                queue.addOperation(operation)
                let value = try await operation.value
                #expect(value == expected, "\(method)")
            }
        }
    }

    @Test func `the memory limit applies to cached and to revalidated responses`() async throws {
        let resource = LoopbackResource(bytes, eTag: "\"a\"", cacheControl: "max-age=1000")
        try await withServer({ resource.response(to: $0) }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            for (limit, policy) in [
                (5000, HTTPCachePolicy.default), (4999, .default), (4999, .revalidate), (5000, .revalidate),
            ] {
                var request = get(server.url + "/")
                request.limits.maxBufferedBytes = limit
                request.cachePolicy = policy
                let operation = HTTPDataOperation(request, session: session)
                queue.addOperation(operation)
                let reason = await reason { try await operation.value }
                #expect(reason?.text == (limit == 5000 ? nil : "bodyTooLarge"))
            }
        }
    }

    private let bytes = LoopbackBody.pattern(length: 5000)

    @Test func `a declared credential field is removed at another origin, and does not return`() async throws {
        try await withServer({ request in
            switch request.path {
            case "/a":
                .redirect(to: "http://localhost:\(request.authority!.split(separator: ":")[1])/b", .temporaryRedirect)
            case "/b":
                .redirect(to: "http://127.0.0.1:\(request.authority!.split(separator: ":")[1])/c", .temporaryRedirect)
            default: .text("x")
            }
        }) { server in
            var request = get(server.url + "/a")
            request.fields = [.authorization: "Bearer secret", .cookie: "a=b", .accept: "text/plain"]
            let operation = HTTPDataOperation(request, session: .plain())
            queue.addOperation(operation)
            _ = try await operation.value
            #expect(server.requests.map { $0.fields[.authorization] } == ["Bearer secret", nil, nil])
            #expect(server.requests.map { $0.fields[.cookie] } == ["a=b", nil, nil])
            #expect(server.requests.map { $0.fields[.accept] } == ["text/plain", "text/plain", "text/plain"])
        }
    }

    @Test func `a refused credential is replaced by the answer to the challenge`() async throws {
        let server = try await HTTPTestServer.start(
            routes: LoopbackRoutes([.basic(user: "a", password: "b", then: .always("/", .text("x")))]))
        var request = get(server.url + "/")
        request.fields[.authorization] = "Bearer old"
        let operation = HTTPDataOperation(request, session: .plain { $0.credentials = Known() })
        queue.addOperation(operation)
        let value = await result { try await operation.value }
        #expect((try? value.get()) == Data("x".utf8), "\(value)")
        #expect(server.requests.count == 2)
        await server.stop()
    }

    private struct Known: HTTPCredentialSource {
        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? { .password(user: "a", password: "b") }
    }
}
