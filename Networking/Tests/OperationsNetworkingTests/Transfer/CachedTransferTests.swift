import Foundation
import HTTPCaching
import HTTPTypes
import HTTPTestServer
import Operations
import OperationsNetworking
import OperationsTesting
import TestSupport
import Testing

/// Transfers with a cache (rules C1 and C2).
@Suite(.timeLimit(.minutes(5))) struct CachedTransferTests {
    private let queue = OperationQueue()

    private struct Answer: Equatable {
        var text: String?
        var isFromCache: Bool
        var status: Int?
        var failure: String?
    }

    private func load(
        _ url: String, _ session: HTTPSession, _ policy: HTTPCachePolicy = .default, fields: HTTPFields = [:]
    ) async -> Answer {
        var request = get(url)
        request.cachePolicy = policy
        request.fields = fields
        let operation = HTTPDataOperation(request, as: .text, session: session)
        queue.addOperation(operation)
        let outcome = await result { try await operation.value }
        let failure = await reason { try outcome.get() }?.text
        return Answer(
            text: try? outcome.get(), isFromCache: operation.servedFromCache,
            status: operation.response?.status.code, failure: failure)
    }

    private func resource(_ text: String, _ control: String?, eTag: String? = "\"1\"") -> LoopbackResource {
        LoopbackResource(.text(text), contentType: "text/plain", eTag: eTag, cacheControl: control)
    }

    @Test(arguments: [true, false])
    func `a fresh response comes from the cache, and a stale one is revalidated without its body`(
        isOnDisk: Bool
    ) async throws {
        let folder = try Folder()
        let routes = LoopbackRoutes([
            .resource("/fresh", resource("fresh", "max-age=1000")), .resource("/stale", resource("stale", "max-age=0")),
            .resource("/private", resource("no", "no-store")),
        ])
        try await withServer({ await routes.answer($0) }) { server in
            let cache = isOnDisk ? try HTTPCache(directory: folder.file("cache")) : HTTPCache.inMemory()
            let session = HTTPSession.plain { $0.cache = cache }
            for isSecond in [false, true] {
                let fresh = await load(server.url + "/fresh", session)
                #expect(fresh == Answer(text: "fresh", isFromCache: isSecond, status: 200))
                let stale = await load(server.url + "/stale", session)
                #expect(stale == Answer(text: "stale", isFromCache: isSecond, status: 200))
                let secret = await load(server.url + "/private", session)
                #expect(secret == Answer(text: "no", isFromCache: false, status: 200))
            }
            let asked = server.requests.map(\.target)
            #expect(asked == ["/fresh", "/stale", "/private", "/stale", "/private"])
            #expect(server.requests[3].fields[.ifNoneMatch] == "\"1\"")
            if isOnDisk {
                let other = HTTPSession.plain { [cache = try? HTTPCache(directory: folder.file("cache"))] in
                    $0.cache = cache
                }
                let again = await load(server.url + "/fresh", other)
                #expect(again.isFromCache, "a later process finds it")
            }
        }
    }

    private static func cached(_ text: String) -> LoopbackResponse {
        LoopbackResponse(fields: [.cacheControl: "max-age=1000"], body: .text(text))
    }

    @Test func `a followed redirect replaces the stored response of its address`() async throws {
        let (page, isMoved) = (resource("page", "max-age=0, stale-if-error=86400"), Guarded(false))
        try await withServer({ request in
            if request.target == "/b" { return Self.cached("b") }
            guard isMoved.withLock({ $0 }) else { return page.response(to: request) }
            return LoopbackResponse(.found, fields: [.location: "/b", .cacheControl: "no-store"])
        }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            let first = await load(server.url + "/", session)
            #expect(first.text == "page")
            isMoved.withLock { $0 = true }
            let second = await load(server.url + "/", session)
            #expect(second.text == "b")
            let third = await load(server.url + "/", session, .onlyIfCached)
            #expect(third.failure == "notInCache")
        }
    }

    @Test func `a permanent redirect and its target come from the cache`() async throws {
        try await withServer({ request in
            if request.target == "/b" { return Self.cached("b") }
            return LoopbackResponse(
                .movedPermanently, fields: [.location: "/b", .cacheControl: "max-age=1000"], body: .text("moved"))
        }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            let first = await load(server.url + "/", session)
            #expect(first == Answer(text: "b", isFromCache: false, status: 200))
            let second = await load(server.url + "/", session, .onlyIfCached)
            #expect(second == Answer(text: "b", isFromCache: true, status: 200))
            #expect(server.requests.count == 2)
        }
    }

    @Test func `each policy has its documented effect, and servedFromCache reports it`() async throws {
        try await withServer({ [resource = resource("x", "max-age=1000")] in resource.response(to: $0) }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            let url = server.url + "/"
            let refused = await load(url, session, .onlyIfCached)
            #expect(refused.failure == "notInCache" && server.requests.isEmpty)
            let first = await load(url, session)
            #expect(!first.isFromCache)
            let expected: [(HTTPCachePolicy, Answer, requests: Int)] = [
                (.default, Answer(text: "x", isFromCache: true, status: 200), 1),
                (.onlyIfCached, Answer(text: "x", isFromCache: true, status: 200), 1),
                (.returnCacheElseLoad, Answer(text: "x", isFromCache: true, status: 200), 1),
                (.askIfStale, Answer(text: "x", isFromCache: true, status: 200), 1),
                (.revalidate, Answer(text: "x", isFromCache: true, status: 200), 2),
                (.ignore, Answer(text: "x", isFromCache: false, status: 200), 3),
                (.maxAge(.zero), Answer(text: "x", isFromCache: true, status: 200), 4),
            ]
            for (policy, answer, requests) in expected {
                let got = await load(url, session, policy)
                #expect(got == answer && server.requests.count == requests, "\(policy)")
            }
            let alreadyThere = await load(url, session, .loadOnlyIfNotCached)
            #expect(alreadyThere.failure == "alreadyCached")
        }
    }

    @Test func `variants are stored separately, and a change removes them`() async throws {
        try await withServer({ request in
            guard request.method == .get else { return LoopbackResponse(.noContent) }
            var response = LoopbackResponse.text(request.fields[.acceptLanguage] ?? "none")
            response.fields[.vary] = "Accept-Language"
            response.fields[.cacheControl] = "max-age=1000"
            return response
        }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            for isSecond in [false, true] {
                for language in ["de", "sv"] {
                    let answer = await load(server.url + "/", session, fields: [.acceptLanguage: language])
                    #expect(answer == Answer(text: language, isFromCache: isSecond, status: 200))
                }
            }
            let change = HTTPDataOperation(HTTPRequestDescription(.delete, server.url + "/"), session: session)
            queue.addOperation(change)
            _ = try await change.value
            let answer = await load(server.url + "/", session, fields: [.acceptLanguage: "de"])
            #expect(!answer.isFromCache)
        }
    }

    @Test func `a stale response is served when the server fails, if permitted`() async throws {
        try await withServer({ request in
            if request.number > 1 { return LoopbackResponse(.internalServerError) }
            var response = LoopbackResponse.text("kept")
            response.fields[.cacheControl] = "max-age=0"
            return response
        }) { server in
            let session = HTTPSession.plain { $0.cache = .inMemory() }
            let first = await load(server.url + "/", session)
            #expect(first.text == "kept")
            let fallen = await load(server.url + "/", session, .fallBackOnFailure)
            #expect(fallen == Answer(text: "kept", isFromCache: true, status: 200))
            let failed = await load(server.url + "/", session)
            #expect(failed.failure == "unacceptableStatus")
        }
    }

    enum Stall: String, CaseIterable, Sendable { case beforeHead, inBody }
    enum Permission: String, CaseIterable, Sendable { case policy, staleIfError, none }

    @Test(arguments: Stall.allCases, Permission.allCases)
    func `a stale response is served after a time limit is exceeded, if permitted`(
        stall: Stall, permission: Permission
    ) async throws {
        let (gate, clock) = (LoopbackGate(), VirtualClock())
        try await withServer({ request in
            var response = LoopbackResponse.text("kept and long")
            response.fields[.cacheControl] = "max-age=0" + (permission == .staleIfError ? ", stale-if-error=1000" : "")
            guard request.number > 1 else { return response }
            return response.with(.stalls(stall == .beforeHead ? .beforeHead : .afterBody(4), until: gate))
        }) { server in
            let cache = HTTPCache.inMemory()
            let session = HTTPSession.plain {
                $0.cache = cache
                $0.setClock(clock)
            }
            _ = await load(server.url + "/", session)
            let advancing = Task {
                await gate.reached()
                while !Task.isCancelled {
                    clock.advance(by: .seconds(10))
                    await Task.yield()
                }
            }
            let answer = await load(server.url + "/", session, permission == .policy ? .fallBackOnFailure : .default)
            advancing.cancel()
            await advancing.value
            if permission == .none {
                #expect(answer.failure == "timedOut")
            } else {
                #expect(answer == Answer(text: "kept and long", isFromCache: true, status: 200))
            }
        }
    }

    enum Unsafe: String, CaseIterable, Sendable {
        case ignoringTheCache, refusedByTheHook, leadingNowhere, leadingInACircle, tooManyRedirects
    }

    @Test(arguments: Unsafe.allCases)
    func `a change removes cached responses, however the request ends`(kind: Unsafe) async throws {
        try await withServer({ request in
            if request.method == .get { return LoopbackResponse.text("x").with(cacheControl: "max-age=600") }
            guard kind != .ignoringTheCache else { return LoopbackResponse(.noContent) }
            let location =
                switch kind {
                case .leadingNowhere: "ftp://nowhere/"
                case .leadingInACircle: "/a"
                default: "/b"
                }
            return LoopbackResponse(.temporaryRedirect, fields: [.location: location])
        }) { server in
            let cache = HTTPCache.inMemory()
            let session = HTTPSession.plain {
                $0.cache = cache
                if kind == .refusedByTheHook {
                    $0.redirectHandler = { redirect in
                        redirect.url = "nonsense"
                        return true
                    }
                }
            }
            _ = await load(server.url + "/a", session)
            var post = HTTPRequestDescription(.post, server.url + "/a")
            if kind == .ignoringTheCache { post.cachePolicy = .ignore }
            if kind == .tooManyRedirects { post.redirects.limit = 0 }
            let operation = HTTPDataOperation(post, session: session)
            queue.addOperation(operation)
            _ = await result { try await operation.value }
            let answer = await load(server.url + "/a", session)
            #expect(answer.text == "x" && !answer.isFromCache)
        }
    }

    @Test func `a truncated response is not stored`() async throws {
        try await withServer({ request in
            var response = LoopbackResponse(body: .pattern(length: 1000))
            response.fields[.cacheControl] = "max-age=1000"
            return request.number == 1 ? response.with(.truncates(after: 500)) : response
        }) { server in
            let cache = HTTPCache.inMemory()
            let session = HTTPSession.plain { $0.cache = cache }
            let cut = await load(server.url + "/", session)
            #expect(cut.failure == "truncated")
            let count = await cache.count
            #expect(count == 0)
            let whole = await load(server.url + "/", session)
            #expect(!whole.isFromCache && whole.failure == nil)
        }
    }
}

extension LoopbackResponse {
    fileprivate func with(cacheControl: String) -> LoopbackResponse {
        var response = self
        response.fields[.cacheControl] = cacheControl
        return response
    }
}
