import Foundation
import HTTPCaching
import HTTPTestServer
import HTTPTypes
import Operations
import TestSupport
import Testing

@testable import OperationsNetworking

/// Stale responses that a request in the background revalidates (rule C1, RFC 5861).
@Suite(.timeLimit(.minutes(5))) struct RevalidationTests {
    /// The owner of the requests: a client, or a queue of the program.
    enum Owner: String, CaseIterable, Sendable { case client, queue }

    private struct Served: Equatable {
        var text: String?
        var isFromCache: Bool
    }

    /// A program with a session, and with a client or a queue.
    private final class Program: Sendable {
        let session: HTTPSession
        let client: HTTPClientQueue?
        private let queue = OperationQueue()

        init(
            _ owner: Owner = .client, perHost: Int? = 8,
            _ change: (inout HTTPSession.Configuration) -> Void = { _ in }
        ) {
            session = .plain {
                $0.cache = .inMemory()
                change(&$0)
            }
            client =
                owner == .client
                ? try? HTTPClientQueue(maxConcurrentRequestsPerHost: perHost, session: session) : nil
        }

        func add(_ operation: HTTPOperation) {
            if let client { client.add(operation) } else { queue.addOperation(operation) }
        }

        func load(
            _ url: String, _ policy: HTTPCachePolicy = .default, fields: HTTPFields = [:],
            method: HTTPRequest.Method = .get
        ) async -> Served {
            var request = HTTPRequestDescription(method, url, fields: fields)
            request.cachePolicy = policy
            let operation = HTTPDataOperation(request, as: .text, session: session)
            add(operation)
            return await served(by: operation)
        }

        func served(by operation: HTTPDataOperation<String>) async -> Served {
            Served(text: try? await operation.value, isFromCache: operation.servedFromCache)
        }

        /// Suspends until the cached response has this entity tag.
        func cacheHas(_ eTag: String, _ url: String) async {
            var head = HTTPRequestDescription(.head, url)
            head.cachePolicy = .onlyIfCached
            while !Task.isCancelled {
                let operation = HTTPDataOperation(head, session: session)
                add(operation)
                _ = try? await operation.value
                if operation.response?.headerFields[.eTag] == eTag { return }
                await Task.yield()
            }
        }
    }

    private static let window = "max-age=0, stale-while-revalidate=86400"

    private static func answer(
        _ text: String, _ control: String = window, eTag: String? = "\"1\""
    ) -> LoopbackResponse {
        loopbackAnswer(text, control, eTag: eTag)
    }

    @Test(arguments: Owner.allCases)
    func `a hundred requests get the stale response at once, and one request in the background revalidates it`(
        owner: Owner
    ) async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            guard request.number > 1 else { return Self.answer("old") }
            try? await gate.pass()
            return Self.answer("new", "max-age=1000", eTag: "\"2\"")
        }) { server in
            let program = Program(owner)
            let url = server.url + "/"
            let first = await program.load(url)
            #expect(first == Served(text: "old", isFromCache: false))
            for _ in 0..<100 {
                let served = await program.load(url)
                #expect(served == Served(text: "old", isFromCache: true))
            }
            let requests = await server.requests(atLeast: 2)
            #expect(requests.count == 2 && requests[1].fields[.ifNoneMatch] == "\"1\"")
            gate.open()
            await program.cacheHas("\"2\"", url)
            let fresh = await program.load(url)
            #expect(fresh == Served(text: "new", isFromCache: true))
            #expect(server.requests.count == 2)
        }
    }

    enum Reply: String, CaseIterable, Sendable {
        case notModified, replaced, unavailable, storableFailure, closed, truncated, notStorable, gone,
            moved, refused

        var response: LoopbackResponse {
            switch self {
            case .notModified: loopbackAnswer("", "max-age=1000", eTag: "\"1\"", .notModified)
            case .replaced: loopbackAnswer("new", "max-age=1000", eTag: "\"2\"")
            case .unavailable: LoopbackResponse(.serviceUnavailable)
            case .storableFailure: loopbackAnswer("failure", "max-age=1000", eTag: "\"2\"", .serviceUnavailable)
            case .closed: LoopbackResponse().with(.closesUnanswered)
            case .truncated:
                loopbackAnswer("new and long", "max-age=1000", eTag: "\"2\"").with(.truncates(after: 3))
            case .notStorable: loopbackAnswer("secret", "no-store", eTag: nil)
            case .gone: LoopbackResponse(.gone)
            case .moved:
                LoopbackResponse(.found, fields: [.location: "/elsewhere", .cacheControl: "no-store"])
            case .refused:
                LoopbackResponse(.unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"a\""])
            }
        }

        /// The text in the cache afterwards; nil if the response is removed.
        var kept: String? {
            switch self {
            case .notModified, .unavailable, .storableFailure, .closed, .truncated, .refused: "old"
            case .replaced: "new"
            case .notStorable, .gone, .moved: nil
            }
        }
    }

    private struct Source: HTTPCredentialSource {
        let asked = Guarded(0)

        func credential(for challenge: HTTPChallenge) async -> HTTPCredential? {
            asked.withLock { $0 += 1 }
            return .password(user: "a", password: "b")
        }
    }

    @Test(arguments: Reply.allCases)
    func `the response to a revalidation refreshes, replaces, removes or leaves the stored response`(
        reply: Reply
    ) async throws {
        try await withServer({ $0.number > 1 ? reply.response : Self.answer("old") }) { server in
            let source = Source()
            let program = Program { $0.credentials = source }
            let client = try #require(program.client)
            let failures = Guarded(0)
            client.queue.unhandledFailureHandler = { _ in failures.withLock { $0 += 1 } }
            let url = server.url + "/"
            _ = await program.load(url)
            let events = client.requestEvents
            let served = await program.load(url)
            #expect(served == Served(text: "old", isFromCache: true))
            await client.waitUntilIdle()
            let kept = await program.load(url, .onlyIfCached)
            #expect(kept.text == reply.kept)
            let targets = server.requests.map(\.target)
            #expect(Set(targets) == ["/"] && source.asked.withLock { $0 } == 0)
            var ends: [Bool] = []
            for await event in events where event.isRevalidation {
                guard case .finished(let error) = event.kind else { continue }
                ends.append(error == nil)
                break
            }
            #expect(ends == [reply != .closed && reply != .truncated])
            #expect(failures.withLock { $0 } == 0, "the failure does not reach handlers of the program")
            // After a failure the next request tries again. After a success it does not need to.
            let count = server.requests.count
            let next = await program.load(url)
            await client.waitUntilIdle()
            if let text = reply.kept { #expect(next == Served(text: text, isFromCache: true)) }
            let isFresh = reply == .notModified || reply == .replaced
            #expect((server.requests.count == count) == isFresh)
        }
    }

    @Test(
        arguments: [
            (.default, "old", 2), (.askIfStale, "old", 2), (.onlyIfCached, "old", 1),
            (.returnCacheElseLoad, "old", 1),
            (.ignore, "new", 2), (.revalidate, "new", 2), (.maxAge(.zero), "new", 2),
            (HTTPCachePolicy(allowsStaleWhileRevalidate: false), "new", 2),
        ] as [(HTTPCachePolicy, String, Int)])
    func `a policy decides whether a stale response is served before its revalidation`(
        policy: HTTPCachePolicy, text: String, requests: Int
    ) async throws {
        try await withServer({ Self.answer($0.number > 1 ? "new" : "old", eTag: "\"\($0.number)\"") }) {
            server in
            let program = Program()
            _ = await program.load(server.url + "/")
            let served = await program.load(server.url + "/", policy)
            await program.client?.waitUntilIdle()
            #expect(served.text == text && server.requests.count == requests)
        }
    }

    @Test(arguments: [
        ("max-age=0, stale-while-revalidate=86400, must-revalidate", ""), (window, "no-cache"),
        (window, "max-age=100"), (window, "min-fresh=1"), (window, "no-store"),
    ])
    func `a request waits for the server if it or the response forbids stale responses`(
        response: String, request: String
    ) async throws {
        try await withServer({
            Self.answer($0.number > 1 ? "new" : "old", response, eTag: "\"\($0.number)\"")
        }) { server in
            let program = Program()
            _ = await program.load(server.url + "/")
            let served = await program.load(
                server.url + "/", fields: request.isEmpty ? [:] : [.cacheControl: request])
            await program.client?.waitUntilIdle()
            #expect(served.text == "new" && server.requests.count == 2)
        }
    }

    @Test func `a HEAD is revalidated by a HEAD`() async throws {
        try await withServer({ _ in Self.answer("old") }) { server in
            let program = Program()
            _ = await program.load(server.url + "/")
            let served = await program.load(server.url + "/", method: .head)
            #expect(served == Served(text: "", isFromCache: true))
            let requests = await server.requests(atLeast: 2)
            await program.client?.waitUntilIdle()
            #expect(requests.map(\.method) == [.get, .head])
            let kept = await program.load(server.url + "/", .onlyIfCached)
            #expect(kept.text == "old")
        }
    }

    @Test func `each variant has a revalidation of its own, with its own fields`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.number > 2 { try? await gate.pass() }
            var response = Self.answer("\(request.fields[.acceptLanguage] ?? "") \(request.number > 2)")
            if request.number > 2 { response.fields[.cacheControl] = "max-age=1000" }
            response.fields[.vary] = "Accept-Language"
            response.fields[.eTag] = "\"\(request.number)\""
            return response
        }) { server in
            let program = Program()
            for _ in 0..<3 {
                for language in ["de", "sv"] {
                    let served = await program.load(server.url + "/", fields: [.acceptLanguage: language])
                    #expect(served.text == "\(language) false")
                }
            }
            let requests = await server.requests(atLeast: 4)
            #expect(
                requests.count == 4
                    && Set(requests[2...].map { $0.fields[.acceptLanguage] }) == ["de", "sv"])
            gate.open()
            await program.client?.waitUntilIdle()
            for language in ["de", "sv"] {
                let served = await program.load(server.url + "/", fields: [.acceptLanguage: language])
                #expect(served == Served(text: "\(language) true", isFromCache: true))
            }
        }
    }

    @Test
    func `a revalidation asks for the address of a redirect, with the credentials of the served request`()
        async throws
    {
        try await withServer({ request in
            if request.target == "/a" {
                return LoopbackResponse(.found, fields: [.location: "/b", .cacheControl: "no-store"])
            }
            guard request.fields[.authorization] != nil else {
                return LoopbackResponse(.unauthorized, fields: [.wwwAuthenticate: "Basic realm=\"a\""])
            }
            return Self.answer("b \(request.number)", eTag: "\"\(request.number)\"")
        }) { server in
            let source = Source()
            let program = Program { $0.credentials = source }
            let first = await program.load(server.url + "/a")
            let second = await program.load(server.url + "/a")
            #expect(first.text == "b 3" && second == Served(text: "b 3", isFromCache: true))
            await program.client?.waitUntilIdle()
            let requests = server.requests
            #expect(requests.map(\.target) == ["/a", "/b", "/b", "/a", "/b", "/b"])
            #expect(
                requests[5].fields[.authorization] != nil && requests[5].fields[.ifNoneMatch] == "\"3\"")
            #expect(source.asked.withLock { $0 } == 2, "once for each request of the program")
        }
    }

    @Test(arguments: Owner.allCases)
    func `a revalidation continues when the reader of the served response is cancelled`(owner: Owner)
        async throws
    {
        let gate = LoopbackGate()
        try await withServer({ request in
            guard request.number > 1 else {
                var response = LoopbackResponse(body: .pattern(length: 2 << 20))
                response.fields[.cacheControl] = Self.window
                return response
            }
            try? await gate.pass()
            return Self.answer("new", "max-age=1000", eTag: "\"2\"")
        }) { server in
            let program = Program(owner)
            let url = server.url + "/"
            let first = HTTPDataOperation(get(url), session: program.session)
            program.add(first)
            _ = try await first.value
            // Without a consumer, the stream cannot end.
            let reader = HTTPStreamOperation(get(url), session: program.session)
            program.add(reader)
            await gate.reached()
            #expect(!reader.isFinished)
            reader.cancel()
            await reader.waitUntilFinished()
            gate.open()
            await program.cacheHas("\"2\"", url)
        }
    }

    @Test func `a body that the cache does not store is not received in the background`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            guard request.number > 1 else { return Self.answer("old") }
            return LoopbackResponse(fields: [.cacheControl: "no-store"], body: .pattern(length: 4 << 20))
                .with(.stalls(.afterBody(1 << 20), until: gate))
        }) { server in
            let program = Program()
            _ = await program.load(server.url + "/")
            _ = await program.load(server.url + "/")
            await program.client?.waitUntilIdle()
            #expect(server.requests.count == 2 && !gate.isOpen)
        }
    }

    @Test func `a revalidation obeys the limit for its host, and yields to waiting requests`()
        async throws
    {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.number == 2 { try? await gate.pass() }
            return Self.answer(request.target)
        }) { server in
            let program = Program(perHost: 1)
            let client = try #require(program.client)
            _ = await program.load(server.url + "/")
            client.isSuspended = true
            // The request is in the queue before the other one. The counts include it a moment earlier.
            let stale = HTTPDataOperation(get(server.url + "/"), as: .text, session: program.session)
            program.add(stale)
            let other = client.get(server.url + "/other", as: .text)
            client.isSuspended = false
            let served = await program.served(by: stale)
            #expect(served == Served(text: "/", isFromCache: true))
            await gate.reached()
            #expect(server.requests.map(\.target).last == "/other", "the request of the program is first")
            #expect(client.counts.waiting == 1)
            gate.open()
            _ = try await other.value
            await client.waitUntilIdle()
            #expect(server.requests.map(\.target) == ["/", "/other", "/"])
        }
    }

    @Test(arguments: Owner.allCases)
    func `a revalidation ends with the client or session, and keeps nothing in use`(owner: Owner)
        async throws
    {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.number > 1 { try? await gate.pass() }
            return Self.answer("old")
        }) { server in
            func serve() async -> (session: Weak, cache: Weak) {
                let program = Program(owner)
                _ = await program.load(server.url + "/")
                let served = await program.load(server.url + "/")
                #expect(served.text == "old")
                await gate.reached()
                return (Weak(program.session), Weak(program.session.configuration.cache))
            }
            let (session, cache) = await serve()
            await server.openConnections(are: 0)
            await session.goes()
            await cache.goes()
            #expect(!gate.isOpen)
        }
    }

    @Test func `cancelAll ends revalidations, and the next request starts another one`() async throws {
        let gate = LoopbackGate()
        try await withServer({ request in
            if request.number == 2 { try? await gate.pass() }
            return Self.answer(request.number > 2 ? "new" : "old", eTag: "\"\(request.number)\"")
        }) { server in
            let program = Program()
            let client = try #require(program.client)
            _ = await program.load(server.url + "/")
            _ = await program.load(server.url + "/")
            await gate.reached()
            client.cancelAll()
            await client.waitUntilIdle()
            let served = await program.load(server.url + "/")
            #expect(served == Served(text: "old", isFromCache: true))
            await client.waitUntilIdle()
            let next = await program.load(server.url + "/", .onlyIfCached)
            #expect(next.text == "new" && !gate.isOpen)
        }
    }

    @Test func `a full client takes no revalidation, and drops no request for it`() async throws {
        try await withServer({ _ in Self.answer("old") }) { server in
            let program = Program()
            let client = try #require(program.client)
            client.queue.setCapacity(1, onOverflow: .dropOldest)
            for isSecond in [false, true] {
                let served = await program.load(server.url + "/")
                await client.waitUntilIdle()
                #expect(served == Served(text: "old", isFromCache: isSecond))
            }
            #expect(server.requests.count == 1 && client.counts.cancelled == 0)
            client.queue.setCapacity(nil)
            _ = await program.load(server.url + "/")
            await server.requests(atLeast: 2)
        }
    }
}

private func loopbackAnswer(
    _ text: String, _ control: String, eTag: String?, _ status: HTTPResponse.Status = .ok
) -> LoopbackResponse {
    var response = LoopbackResponse(status, body: status == .notModified ? .empty : .text(text))
    response.fields[.contentType] = "text/plain"
    response.fields[.cacheControl] = control
    response.fields[.eTag] = eTag
    return response
}
