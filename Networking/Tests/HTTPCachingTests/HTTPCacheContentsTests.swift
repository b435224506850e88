import Foundation
import HTTPCaching
import HTTPTypes
import Testing

/// Bodies, retention, derived data, age and memory.
@Suite struct HTTPCacheContentsTests {
    @Test func `a large body is read in pieces, and to its end if it is evicted meanwhile`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path)
        let large = Data((0..<1_000_000).map { UInt8(truncatingIfNeeded: $0 &* 31 >> 3) })
        let response = answer(200, "Cache-Control: max-age=60", "Content-Length: 1000000")
        let writer = await cache.received(response, to: get(), requestTime: origin, responseTime: origin)
        for start in stride(from: 0, to: large.count, by: 70_001) {
            await writer?.write(large[start...].prefix(70_001))
        }
        #expect(await writer?.finish(now: origin) == true)
        #expect(directory.bodies().count == 1)
        guard case .serve(let cached) = await cache.answer(to: get(), now: origin) else {
            Issue.record("not served")
            return
        }
        #expect(cached.body.dataInMemory == nil && cached.size == 1_000_000)
        await cache.removeAll()
        #expect(directory.bodies() == [])
        var read = Data()
        for try await piece in cached.body.pieces(of: 99_999) { read += piece }
        #expect(read == large)
        #expect(try await cached.body.read(at: 999_990, count: 50) == large.suffix(10))
        #expect(try await cached.body.read(at: 1_000_000, count: 5) == Data())
        #expect(try await cached.body.read(at: -1, count: 5) == Data())
    }

    @Test func `a session entry is not on disk, and replaces the entry on disk`() async throws {
        let directory = try TemporaryDirectory()
        let control = "Cache-Control: max-age=60"
        do {
            let cache = try HTTPCache(directory: directory.path)
            await cache.load(get(), answer(200, control), body: "kept")
            await cache.load(get(), answer(200, control), body: "secret", policy: .sessionOnly)
            #expect(await cache.outcome(get()) == "secret")
            #expect(await cache.count == 1)
            #expect(directory.bodies() == [])
            await cache.load(get("/b"), answer(200, control), body: "session", policy: .sessionOnly)
            await cache.load(get("/b"), answer(200, control), body: "for ever")
            #expect(await cache.count == 2)
        }
        let next = try HTTPCache(directory: directory.path)
        #expect(await next.outcome(get()) == "load")
        #expect(await next.outcome(get("/b")) == "for ever")
    }

    @Test func `derived data has keys and variants separate from responses`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path)
        let key = "https://example.com/a"
        await cache.load(get(), answer(200, "Cache-Control: max-age=60"))
        await cache.store(Data("small".utf8), forKey: key, variant: "100x100")
        await cache.store(Data("large".utf8), forKey: key, variant: "../../500'x500")
        #expect(await cache.data(forKey: key, variant: "100x100") == Data("small".utf8))
        #expect(await cache.data(forKey: key, variant: "../../500'x500") == Data("large".utf8))
        #expect(await cache.data(forKey: key) == nil)
        #expect(await cache.count == 3)
        await cache.removeStale(at: at(60))
        #expect(await cache.count == 2)
        await cache.removeData(forKey: key)
        #expect(await cache.count == 0)
        await cache.store(Data(), forKey: "", variant: "")
        #expect(await cache.data(forKey: "") == Data())
    }

    @Test func `entries older than the age limit are not served and are removed`() async throws {
        let cache = HTTPCache.inMemory(ageLimit: .seconds(50))
        await cache.load(get(), answer(200, "Cache-Control: max-age=600"))
        #expect(await cache.outcome(get(), at: at(50)) == "body")
        #expect(await cache.outcome(get(), at: at(51)) == "load")
        await cache.load(get("/b"), answer(200, "Cache-Control: max-age=600"), at: at(51))
        #expect(await cache.count == 1)
        await cache.remove(before: at(52))
        #expect(await cache.count == 0)
    }

    @Test func `a cancelled task can still store and read a response`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path, memoryLimit: 0)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await cache.load(get(), answer(200, "Cache-Control: max-age=60"))
            return await cache.outcome(get())
        }
        #expect(await task.value == "body")
    }

    @Test func `memory is released, except for bodies that are not on disk`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path)
        await cache.store(Data(count: 10), forKey: "a")
        await cache.store(Data(count: 11), forKey: "b", retention: .session)
        await cache.releaseMemory()
        #expect(await cache.data(forKey: "a")?.count == 10)
        #expect(await cache.data(forKey: "b")?.count == 11)
    }
}
