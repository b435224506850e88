import Foundation
import GRDB
import HTTPCaching
import HTTPTypes
import TestSupport
import Testing

@Suite struct CacheDamageTests {
    private let control = "Cache-Control: max-age=60"
    private let reported = Journal<String>()

    private func open(
        _ directory: TemporaryDirectory, memory: Int = 0, step: @escaping CacheStepHook = { _ in }
    ) async throws -> HTTPCache {
        let reported = reported
        let cache = try HTTPCache(
            directory.path, memoryLimit: memory, diskLimit: 10_000_000, step: step,
            onError: { error in
                let name = Mirror(reflecting: error).children.first?.label ?? "\(error)"
                reported.append(name)
                if error.description.isEmpty { reported.append("empty") }
            })
        await cache.opened()
        return cache
    }

    private func index(_ directory: TemporaryDirectory, _ suffix: String = "") -> String {
        "\(directory.path)/index-1.sqlite\(suffix)"
    }

    private func mode(_ path: String) throws -> Int {
        try #require(FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int)
    }

    /// Waits for the reports, which arrive on a separate queue.
    private func waitForReport(_ name: String) async {
        while !reported.entries.contains(name) { await Task.yield() }
    }

    @Test func `other users cannot read the cache`() async throws {
        let old = umask(0)
        defer { umask(old) }
        let directory = try TemporaryDirectory()
        let path = "\(directory.path)/made/with/parents"
        let cache = try HTTPCache(directory: URL(fileURLWithPath: path))
        await cache.load(get(), answer(200, control))
        for item in ["", "/bodies", "/unfinished"] { #expect(try mode(path + item) == 0o700) }
        #expect(try mode("\(directory.path)/made") == 0o700)
        for suffix in ["", "-wal", "-shm"] { #expect(try mode("\(path)/index-1.sqlite\(suffix)") == 0o600) }
        let body = try #require(directory.bodies().first)
        #expect(try mode("\(directory.path)/\(body)") == 0o600)
        #expect(
            try mode("\(directory.path)/\(body)".split(separator: "/").dropLast().map { "/" + $0 }.joined()) == 0o700)
    }

    @Test(arguments: ["garbage", "truncated", "table missing", "column missing", "wrong values", "empty"])
    func `a damaged index is renamed, and a new index is created`(damage: String) async throws {
        let directory = try TemporaryDirectory()
        do {
            let cache = try await open(directory)
            await cache.load(get(), answer(200, control))
        }
        let path = index(directory)
        switch damage {
        case "garbage": try Data(repeating: 0x5a, count: 20_000).write(to: URL(fileURLWithPath: path))
        case "truncated":
            let whole = try Data(contentsOf: URL(fileURLWithPath: path))
            try whole.prefix(5000).write(to: URL(fileURLWithPath: path))
        case "empty": try Data().write(to: URL(fileURLWithPath: path))
        default:
            let database = try DatabaseQueue(path: path)
            try await database.write { db in
                switch damage {
                case "table missing": try db.execute(sql: "DROP TABLE entry; CREATE TABLE entry (id INTEGER)")
                case "column missing": try db.execute(sql: "ALTER TABLE entry DROP COLUMN staleTime")
                default: try db.execute(sql: "UPDATE entry SET head = 5, kind = 0, size = 'x', digest = x'ff'")
                }
            }
        }
        let cache = try await open(directory)
        #expect(await cache.outcome(get()) == "load")
        for _ in 0..<3 where await !cache.load(get(), answer(200, control)) {}
        #expect(await cache.outcome(get()) == "body")
        #expect(directory.bodies().count == 1)
        guard damage != "empty" && damage != "wrong values" else { return }
        await waitForReport("damagedIndex")
        #expect(FileManager.default.fileExists(atPath: index(directory, ".damaged")))
    }

    @Test func `an index that is damaged while open is replaced`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try await open(directory)
        await cache.load(get(), answer(200, control))
        let database = try DatabaseQueue(path: index(directory))
        try await database.write { try $0.execute(sql: "DROP TABLE entry") }
        #expect(await cache.outcome(get()) == "load")
        #expect(await cache.load(get(), answer(200, control)))
        #expect(await cache.outcome(get()) == "body")
        await waitForReport("damagedIndex")
    }

    @Test func `the second cache that detects a damaged index uses the new index of the first`() async throws {
        let directory = try TemporaryDirectory()
        let caches = [try await open(directory), try await open(directory)]
        await caches[0].load(get(), answer(200, control))
        #expect(await caches[1].outcome(get()) == "body")
        let database = try DatabaseQueue(path: index(directory))
        try await database.write { try $0.execute(sql: "DROP TABLE entry") }
        #expect(await caches[0].outcome(get()) == "load")
        #expect(await caches[0].load(get(), answer(200, control)))
        #expect(await caches[1].outcome(get()) == "load")
        #expect(await caches[1].outcome(get()) == "body")
        await waitForReport("damagedIndex")
        #expect(reported.entries.count == 1)
    }

    @Test(arguments: ["removed", "shorter", "other", "directory", "link"])
    func `a missing or damaged body is a miss`(damage: String) async throws {
        let directory = try TemporaryDirectory()
        let cache = try await open(directory)
        await cache.load(get(), answer(200, control))
        let path = "\(directory.path)/\(try #require(directory.bodies().first))"
        try FileManager.default.removeItem(atPath: path)
        switch damage {
        case "shorter": try Data("bod".utf8).write(to: URL(fileURLWithPath: path))
        case "other": try Data("BODY".utf8).write(to: URL(fileURLWithPath: path))
        case "directory": try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        case "link": try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/etc/passwd")
        default: break
        }
        #expect(await cache.outcome(get()) == "load")
        if damage == "directory" { rmdir(path) }
        #expect(await cache.load(get(), answer(200, control)))
        #expect(await cache.outcome(get()) == "body")
    }

    @Test func `a directory that cannot be created is refused, and a read-only directory stores less`() async throws {
        #expect(throws: HTTPCacheError.self) { try HTTPCache(directory: "/dev/null/cache") }
        #expect(throws: HTTPCacheError.self) { try HTTPCache(directory: "") }
        #expect(throws: HTTPCacheError.self) { try HTTPCache(directory: URL(string: "https://a/b")!) }
        let directory = try TemporaryDirectory()
        try Data().write(to: URL(fileURLWithPath: "\(directory.path)/bodies"))
        let cache = try await open(directory, memory: 10_000)
        #expect(await cache.outcome(get()) == "load")
        #expect(await !cache.load(get(), answer(200, control)))
        #expect(await cache.load(get(), answer(200, control), policy: .sessionOnly))
        #expect(await cache.outcome(get()) == "body")
        await waitForReport("unusableDirectory")
    }

    @Test func `a directory that is removed while the cache is open is created again`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try await open(directory)
        await cache.load(get(), answer(200, control))
        try FileManager.default.removeItem(atPath: directory.path)
        #expect(await cache.outcome(get()) == "load")
        for _ in 0..<3 where await !cache.load(get(), answer(200, control)) {}
        #expect(await cache.outcome(get()) == "body")
    }

    @Test(arguments: CacheStep.allCases, [10, 600_000])
    func `a full disk at any step loses only the new entry`(step: CacheStep, size: Int) async throws {
        let directory = try TemporaryDirectory()
        let isFull = Guarded(false)
        let cache = try await open(directory) { reached in
            if isFull.withLock({ $0 }), reached == step { throw HTTPCacheError.noSpace(path: step.rawValue) }
        }
        await cache.load(get("/old"), answer(200, control), body: "old")
        let body = String(repeating: "x", count: size)
        isFull.withLock { $0 = true }
        let isStored = await cache.load(get(), answer(200, control), body: body)
        // No step removes a body here, and the entry exists after the commit.
        #expect(isStored == (step == .bodiesRemoved))
        if step != .bodiesRemoved { await waitForReport("noSpace") }
        isFull.withLock { $0 = false }
        #expect(await cache.outcome(get("/old")) == "old")
        if step != .bodiesRemoved, step != .committed {
            #expect(await cache.outcome(get()) == "load")
            #expect(directory.bodies().count == 1)
        }
        #expect(await cache.load(get(), answer(200, control), body: body))
        #expect(await cache.outcome(get()) == body)
    }

    @Test func `remains of crashes are removed, and files that are being written remain`() async throws {
        let directory = try TemporaryDirectory()
        do { _ = try await open(directory) }
        let names = ["bodies/ab/\(String(repeating: "ab", count: 32))", "unfinished/\(UUID().uuidString)"]
        mkdir("\(directory.path)/bodies/ab", 0o700)
        for name in names { try Data("left".utf8).write(to: URL(fileURLWithPath: "\(directory.path)/\(name)")) }
        let cache = try await open(directory)
        // A new file may not be locked yet.
        #expect(directory.bodies() == [names[1]])
        let large = String(repeating: "x", count: 300_000)
        let writer = await cache.received(answer(200, control), to: get(), requestTime: origin, responseTime: origin)
        await writer?.write(Array(large.utf8))
        #expect(directory.bodies().count == 2)
        let other = try await open(directory)
        await other.sweep(unfinishedAge: -3600)
        #expect(directory.bodies().count == 1)
        #expect(await writer?.finish(now: origin) == true)
        #expect(await other.outcome(get()) == large)
    }

    @Test(arguments: [true, false])
    func `an invalidation that the index cannot record takes effect at once, and is recorded later`(isOfAll: Bool)
        async throws
    {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(
            directory.path, memoryLimit: 0, diskLimit: 10_000_000, busyTimeout: 0.01, step: { _ in }, onError: { _ in })
        await cache.opened()
        await cache.load(get(), answer(200, control))
        await cache.load(get("/b"), answer(200, control), body: "other")
        let underWay = await cache.received(answer(200, control), to: get(), requestTime: origin, responseTime: origin)
        let under = try #require(underWay)
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: index(directory), configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        if isOfAll {
            await cache.removeAll()
        } else {
            _ = await cache.received(
                answer(204), to: get(method: .post), requestTime: origin, responseTime: origin)
        }
        #expect(await cache.outcome(get()) == "load")
        #expect(await cache.outcome(get("/b")) == (isOfAll ? "load" : "other"))
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        #expect(await cache.outcome(get()) == "load")
        // A response to a request from before the invalidation is not stored.
        await under.write(Array("old".utf8))
        #expect(await under.finish(now: origin) == false)
        #expect(await cache.outcome(get()) == "load")
        await cache.load(get(), answer(200, control), body: "new")
        #expect(await cache.outcome(get()) == "new")
    }

    @Test func `data that was removed while the index could not be written is not served`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(
            directory.path, memoryLimit: 0, diskLimit: 10_000_000, busyTimeout: 0.01, step: { _ in }, onError: { _ in })
        await cache.opened()
        for key in ["a", "b"] { await cache.store(Data(key.utf8), forKey: key) }
        var configuration = Configuration()
        configuration.allowsUnsafeTransactions = true
        let other = try DatabaseQueue(path: index(directory), configuration: configuration)
        try await other.writeWithoutTransaction { try $0.execute(sql: "BEGIN IMMEDIATE") }
        await cache.removeData(forKey: "a")
        var found = [await cache.data(forKey: "a"), await cache.data(forKey: "b")]
        #expect(found == [nil, Data("b".utf8)])
        await cache.removeAll()
        found = [await cache.data(forKey: "a"), await cache.data(forKey: "b")]
        #expect(found == [nil, nil])
        try await other.writeWithoutTransaction { try $0.execute(sql: "ROLLBACK") }
        await cache.store(Data("c".utf8), forKey: "c")
        found = [await cache.data(forKey: "b"), await cache.data(forKey: "c")]
        #expect(found == [nil, Data("c".utf8)])
    }

    @Test(arguments: [HTTPCachePolicy.Retention.permanent, .session])
    func `a response that arrived earlier does not replace a later one`(retention: HTTPCachePolicy.Retention)
        async throws
    {
        let directory = try TemporaryDirectory()
        let cache = try await open(directory, memory: 100_000)
        func begin(_ seconds: Double, _ policy: HTTPCachePolicy = .default) async -> CacheWriter? {
            // The order of the requests does not count.
            await cache.received(
                answer(200, control), to: get(), policy: policy, requestTime: at(-20 - seconds),
                responseTime: at(seconds))
        }
        var policy = HTTPCachePolicy.default
        policy.retention = retention
        let (first, second) = (await begin(-10), await begin(-1, policy))
        let (slow, quick) = (try #require(first), try #require(second))
        await quick.write(Array("later".utf8))
        #expect(await quick.finish(now: origin))
        await slow.write(Array("earlier".utf8))
        #expect(await slow.finish(now: origin) == false)
        #expect(await cache.outcome(get()) == "later")
        #expect(directory.bodies().count == (retention == .permanent ? 1 : 0))
    }
}
