import Foundation
import HTTPCaching
import HTTPTypes
import Testing
import TestSupport

@Suite struct HTTPCacheTests {
    /// The cache is in memory, or on disk without memory so that every body is read from its file.
    enum Place: String, CaseIterable { case memory, disk, both }

    private func cache(_ place: Place, _ directory: TemporaryDirectory) throws -> HTTPCache {
        switch place {
        case .memory: .inMemory()
        case .disk: try HTTPCache(directory: directory.path, memoryLimit: 0)
        case .both: try HTTPCache(directory: directory.path)
        }
    }

    @Test(arguments: Place.allCases)
    func `a response is stored, served with its age while fresh, and revalidated when stale`(place: Place) async throws
    {
        let directory = try TemporaryDirectory()
        let cache = try cache(place, directory)
        #expect(await cache.outcome(get()) == "load")
        #expect(await cache.load(get(), answer(200, "Cache-Control: max-age=60", "ETag: \"a\"", "X-A: 1", "Age: 2")))
        guard case .serve(let cached) = await cache.answer(to: get(), now: at(10)) else {
            Issue.record("not served")
            return
        }
        #expect(cached.response.status == .ok && cached.response.headerFields[.init("X-A")!] == "1")
        #expect(cached.response.headerFields[fields: .age].map(\.value) == ["12"])
        #expect(cached.isFresh && cached.age == 12 && cached.size == 4)
        #expect(try await cached.body.data() == Data("body".utf8))
        #expect(await cache.outcome(get(), at: at(60)) == "check")
        #expect(await cache.outcome(get("/b")) == "load")
    }

    @Test(arguments: Place.allCases)
    func `a 304 refreshes the stored response for later requests too`(place: Place) async throws {
        let directory = try TemporaryDirectory()
        let cache = try cache(place, directory)
        await cache.load(get(), answer(200, "Cache-Control: max-age=60", "ETag: \"a\""))
        guard case .load(let load) = await cache.answer(to: get(), now: at(100)), let old = load.stored else {
            Issue.record("not checked")
            return
        }
        #expect(load.adding == fields("If-None-Match: \"a\""))
        // The entry may be removed during the validation. Its body stays readable.
        await cache.removeAll()
        let update = answer(304, "ETag: \"a\"", "Cache-Control: max-age=10")
        let new = try #require(
            await cache.refresh(old, with: update, to: get(), requestTime: at(100), responseTime: at(100)))
        #expect(try await new.body.data() == Data("body".utf8) && new.isFresh && new.response.status == .ok)
        #expect(await cache.outcome(get(), at: at(101)) == "load")

        await cache.load(get(), answer(200, "Cache-Control: max-age=60", "ETag: \"a\""))
        guard case .load(let again) = await cache.answer(to: get(), now: at(100)), let old = again.stored else {
            Issue.record("not checked")
            return
        }
        _ = await cache.refresh(old, with: update, to: get(), requestTime: at(100), responseTime: at(100))
        #expect(await cache.outcome(get(), at: at(109)) == "body")
        #expect(await cache.outcome(get(), at: at(110)) == "check")
        let other = answer(304, "ETag: \"b\"")
        #expect(await cache.refresh(old, with: other, to: get(), requestTime: at(110), responseTime: at(110)) == nil)
        #expect(await cache.outcome(get(), at: at(110)) == "load")
    }

    @Test(arguments: [
        ("Vary: Accept", "body", "load"), ("Vary: *", "load", "load"), ("Cache-Control: no-store", "load", "load"),
        ("X-Other: 1", "body", "body"),
    ])
    func `a 304 can change the requests that a response matches`(line: String, same: String, other: String) async throws
    {
        let cache = HTTPCache.inMemory()
        let request = get("/a", "Accept: x")
        await cache.load(request, answer(200, "Cache-Control: max-age=60", "ETag: \"a\""))
        guard case .load(let load) = await cache.answer(to: request, policy: .revalidate, now: origin),
            let old = load.stored
        else {
            Issue.record("not checked")
            return
        }
        _ = await cache.refresh(old, with: answer(304, line), to: request, requestTime: origin, responseTime: origin)
        #expect(await cache.outcome(request) == same)
        #expect(await cache.outcome(get("/a", "Accept: y")) == other)
    }

    @Test(
        arguments: Place.allCases,
        [HTTPCachePolicy.onlyIfCached, .returnCacheElseLoad, .fallBackOnFailure, .revalidate])
    func `no policy serves a cookie that the response forbids to reuse`(place: Place, policy: HTTPCachePolicy)
        async throws
    {
        let directory = try TemporaryDirectory()
        let cache = try cache(place, directory)
        let control = "Cache-Control: max-age=60, no-cache=\"Set-Cookie\""
        await cache.load(get(), answer(200, control, "ETag: \"a\"", "Set-Cookie: id=1", "X-A: 1"))
        func head(at now: Date) async -> HTTPFields? {
            switch await cache.answer(to: get(), policy: policy, now: now) {
            case .serve(let served), .serveAndRevalidate(let served, _): served.response.headerFields
            case .load(let load): (load.stored ?? load.fallback(at: now))?.response.headerFields
            case .refuse: nil
            }
        }
        let first = try #require(await head(at: at(1)))
        #expect(!first.contains(.setCookie) && first[.init("X-A")!] == "1")

        guard case .load(let load) = await cache.answer(to: get(), now: at(2)), let stored = load.stored else {
            Issue.record("not checked")
            return
        }
        let update = answer(304, "ETag: \"a\"", "Set-Cookie: id=2")
        let fresh = await cache.refresh(stored, with: update, to: get(), requestTime: at(2), responseTime: at(2))
        #expect(fresh?.response.headerFields[.setCookie] == "id=2", "the server sent it to this request")
        #expect(try #require(await head(at: at(3))).contains(.setCookie) == false)
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.contains("sqlite") {
            let content = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(name)"))
            #expect(content.range(of: Data("id=".utf8)) == nil)
        }
    }

    @Test func `variants are stored side by side, and each request gets its variant`() async throws {
        let cache = HTTPCache.inMemory()
        for language in ["de", "en"] {
            let response = answer(200, "Cache-Control: max-age=60", "Vary: Accept-Language")
            await cache.load(get("/a", "Accept-Language: \(language)"), response, body: language)
        }
        #expect(await cache.outcome(get("/a", "Accept-Language: de")) == "de")
        #expect(await cache.outcome(get("/a", "Accept-Language: en")) == "en")
        #expect(await cache.outcome(get("/a", "Accept-Language: fr")) == "load")
        #expect(await cache.outcome(get("/a")) == "load")
        #expect(await cache.count == 2)
        await cache.remove("https://EXAMPLE.com:443/a#part")
        #expect(await cache.count == 0)
    }

    @Test(arguments: [
        ("/%C3%A4?q=a%20b", "https://example.com/ä?q=a b"), ("/b", "https://user:pw@example.com/a/../b"),
        ("/%7Ea", " HTTPS://EXAMPLE.com:443/%7Ea#part "),
    ])
    func `an address to remove can have any form`(path: String, url: String) async {
        let cache = HTTPCache.inMemory()
        await cache.load(get(path), answer(200, "Cache-Control: max-age=60"))
        #expect(await cache.count == 1)
        await cache.remove(url)
        #expect(await cache.count == 0)
    }

    @Test(arguments: ["/%C3%A4", "/ä", "/b/../ä"])
    func `an unsafe request invalidates the addresses in its response, in any form`(location: String) async {
        let cache = HTTPCache.inMemory()
        await cache.load(get("/%C3%A4"), answer(200, "Cache-Control: max-age=60"))
        await cache.load(get("/a", method: .post), answer(201, "Location: \(location)"))
        #expect(await cache.outcome(get("/%C3%A4")) == "load")
    }

    @Test(arguments: [("/other", 1, true), ("/other", 1000, true), ("/other", 1001, false), ("/a", 1, false)])
    func `a response is not stored if its address, or a thousand others, changed after the request`(
        path: String, changes: Int, isStored: Bool
    ) async throws {
        let cache = HTTPCache.inMemory()
        guard case .load(let load) = await cache.answer(to: get(), now: origin) else {
            Issue.record("served")
            return
        }
        for _ in 0..<changes { await cache.load(get(path, method: .post), answer(204)) }
        let writer = await cache.received(
            answer(200, "Cache-Control: max-age=60"), to: get(), requestTime: origin, responseTime: origin,
            since: load.ticket)
        await writer?.write(Array("body".utf8))
        let isDone = await writer?.finish(now: origin)
        #expect(isDone == isStored)
        #expect(await cache.outcome(get()) == (isStored ? "body" : "load"))
        #expect(await cache.load(get(), answer(200, "Cache-Control: max-age=60")), "a later response is stored")
    }

    @Test func `the most recent of several matching responses is served`() async throws {
        let cache = HTTPCache.inMemory()
        let control = "Cache-Control: max-age=600"
        await cache.load(get(), answer(200, control, "Date: \(httpDate(-10))"), body: "old")
        let varying = answer(200, control, "Date: \(httpDate(-5))", "Vary: Accept")
        await cache.load(get("/a", "Accept: x"), varying, body: "new")
        #expect(await cache.outcome(get("/a", "Accept: x")) == "new")
        #expect(await cache.outcome(get("/a", "Accept: y")) == "old")
    }

    @Test func `a response to a request with credentials serves these credentials only, and the disk contains none`()
        async throws
    {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path)
        let mine = get("/a", "Authorization: Bearer hunter2hunter2", "Cookie: sesame")
        await cache.load(mine, answer(200, "Cache-Control: max-age=60", "Vary: Cookie"))
        #expect(await cache.outcome(mine) == "body")
        #expect(await cache.outcome(get("/a", "Authorization: Bearer other", "Cookie: sesame")) == "load")
        #expect(await cache.outcome(get("/a", "Cookie: sesame")) == "load")
        for name in try FileManager.default.contentsOfDirectory(atPath: directory.path) where name.contains("sqlite") {
            let content = try Data(contentsOf: URL(fileURLWithPath: "\(directory.path)/\(name)"))
            #expect(content.range(of: Data("hunter2".utf8)) == nil && content.range(of: Data("sesame".utf8)) == nil)
        }
    }

    @Test(arguments: [
        (200, "no-store", "load"), (404, "max-age=60", "new"), (404, "", "load"), (500, "", "body"), (401, "", "body"),
        (206, "max-age=60", "body"),
    ])
    func `a response replaces, removes or keeps the stored response`(
        status: Int, control: String, expected: String
    ) async throws {
        let cache = HTTPCache.inMemory()
        await cache.load(get(), answer(200, "Cache-Control: max-age=60", "Date: \(httpDate(-1))"))
        await cache.load(get(), answer(status, "Cache-Control: \(control)", "Date: \(httpDate(0))"), body: "new")
        #expect(await cache.outcome(get()) == expected)
    }

    @Test func `an unsafe method invalidates its target and the addresses in the response`() async throws {
        let cache = HTTPCache.inMemory()
        for path in ["/a", "/b", "/c"] { await cache.load(get(path), answer(200, "Cache-Control: max-age=60")) }
        await cache.load(get("/a", method: .post), answer(500))
        #expect(await cache.count == 3)
        await cache.load(get("/a", method: .post), answer(303, "Location: /b"))
        #expect(await cache.outcome(get("/a")) == "load")
        #expect(await cache.outcome(get("/b")) == "load")
        #expect(await cache.outcome(get("/c")) == "body")
    }

    @Test func `a HEAD is answered without a body, and its response updates or removes the stored response`()
        async throws
    {
        let cache = HTTPCache.inMemory()
        let head = get(method: .head)
        await cache.load(get(), answer(200, "Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 4"))
        #expect(await cache.outcome(head) == "")
        #expect(await cache.outcome(head, at: at(60)) == "load")
        await cache.load(head, answer(200, "Cache-Control: max-age=60", "ETag: \"a\"", "Content-Length: 4"), at: at(60))
        #expect(await cache.outcome(get(), at: at(119)) == "body")
        await cache.load(head, answer(200, "ETag: \"b\""), at: at(60))
        #expect(await cache.outcome(get(), at: at(61)) == "load")
    }

    @Test(arguments: Place.allCases)
    func `a body that is shorter or longer than announced is never stored`(place: Place) async throws {
        let directory = try TemporaryDirectory()
        let cache = try cache(place, directory)
        for length in [3, 5, 400_000] {
            let response = answer(200, "Cache-Control: max-age=60", "Content-Length: \(length)")
            #expect(await !cache.load(get(), response))
        }
        let response = answer(200, "Cache-Control: max-age=60", "Content-Length: 4")
        #expect(await cache.outcome(get()) == "load")
        var writer = await cache.received(response, to: get(), requestTime: origin, responseTime: origin)
        await writer?.write(Array("body".utf8))
        await writer?.abandon()
        #expect(await writer?.finish() == false)
        // The writer is deallocated without a call of `finish`.
        writer = await cache.received(response, to: get(), requestTime: origin, responseTime: origin)
        await writer?.write(Data(count: 4))
        writer = nil
        #expect(await cache.count == 0)
        #expect(directory.bodies() == [])
        writer = await cache.received(
            response, to: get(), expectedLength: .exactly(5), requestTime: origin, responseTime: origin)
        await writer?.write(Data(count: 5))
        #expect(await writer?.finish(now: origin) == true)
    }

    @Test func `a stored response replaces a failed response for the allowed time`() async throws {
        let cache = HTTPCache.inMemory()
        await cache.load(get(), answer(200, "Cache-Control: max-age=10, stale-if-error=20"))
        guard case .load(let load) = await cache.answer(to: get(), now: at(15)) else {
            Issue.record("served")
            return
        }
        #expect(load.adding == [:] && load.stored == nil)
        #expect(load.fallback(at: at(30)) != nil && load.fallback(at: at(31)) == nil)
        guard case .load(let other) = await cache.answer(to: get(), policy: .fallBackOnFailure, now: at(99)) else {
            Issue.record("served")
            return
        }
        let fallback = try #require(other.fallback(at: at(9999)))
        #expect(try await fallback.body.data() == Data("body".utf8) && !fallback.isFresh)
    }

    // MARK: - Revalidation in the background

    private static let window = "Cache-Control: max-age=60, stale-while-revalidate=30"

    private func revalidation(
        _ cache: HTTPCache, _ request: HTTPRequest = get(), at now: Date
    ) async -> CacheRevalidation? {
        guard
            case .serveAndRevalidate(let served, let revalidation) = await cache.answer(
                to: request, now: now),
            let body = try? await served.body.data(), body == Data("body".utf8), !served.isFresh
        else { return nil }
        return revalidation
    }

    @Test(arguments: Place.allCases)
    func `a stored response has one revalidation at a time, and is served meanwhile`(place: Place)
        async throws
    {
        let directory = try TemporaryDirectory()
        let cache = try cache(place, directory)
        await cache.load(get(), answer(200, Self.window, "ETag: \"a\""))
        await cache.load(get("/b"), answer(200, Self.window))
        var first = await revalidation(cache, at: at(70))
        #expect(first?.load.adding == fields("If-None-Match: \"a\"") && first?.load.stored?.size == 0)
        for _ in 0..<3 { #expect(await cache.outcome(get(), at: at(70)) == "body") }
        let other = await revalidation(cache, get("/b"), at: at(70))
        #expect(other?.load.adding == [:], "another response has a revalidation of its own")
        first = nil
        first = await revalidation(cache, at: at(70))
        #expect(first != nil, "the next one, after a failure")
        #expect(
            await cache.outcome(get(), at: at(91)) == "check", "outside of the window, requests wait")
    }

    @Test func `a 304 and a 200 to a revalidation change the stored response`() async throws {
        let cache = HTTPCache.inMemory()
        await cache.load(get(), answer(200, Self.window, "ETag: \"a\""))
        var first = await revalidation(cache, at: at(70))
        let old = try #require(first?.load.stored)
        _ = await cache.refresh(
            old, with: answer(304), to: get(), requestTime: at(71), responseTime: at(71))
        first = nil
        #expect(await cache.outcome(get(), at: at(130)) == "body")
        let second = try #require(await revalidation(cache, at: at(132)))
        let new = await cache.received(
            answer(200, "Cache-Control: max-age=60"), to: get(), requestTime: at(132),
            responseTime: at(132),
            since: second.load.ticket)
        await new?.write(Array("new".utf8))
        await new?.finish(now: at(132))
        #expect(await cache.outcome(get(), at: at(191)) == "new")
    }

    @Test func `a response to a revalidation from before a change is not stored`() async throws {
        let cache = HTTPCache.inMemory()
        await cache.load(get(), answer(200, Self.window))
        let revalidation = try #require(await revalidation(cache, at: at(70)))
        await cache.remove("https://example.com/a")
        let writer = await cache.received(
            answer(200, Self.window), to: get(), requestTime: at(70), responseTime: at(70),
            since: revalidation.load.ticket)
        await writer?.write(Array("old".utf8))
        #expect(await writer?.finish(now: at(70)) != true)
        #expect(await cache.outcome(get(), at: at(70)) == "load")
    }
}
