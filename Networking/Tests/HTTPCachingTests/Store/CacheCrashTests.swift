import Foundation
import HTTPCaching
import HTTPTypes
import TestSupport
import Testing

@Suite struct CacheCrashTests {
    private static let control = "Cache-Control: max-age=1000000"

    /// Returns a limit that holds two bodies of the given size. A third body, half as large again, fits only without
    /// the first body.
    private static func limit(_ size: Int) -> Int { size * 2 + 1500 }

    private static func body(_ letter: String, _ size: Int) -> String { String(repeating: letter, count: size) }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    @Test(arguments: CacheStep.allCases, [700, 700_000])
    func `a process killed after any step leaves a cache that works`(step: CacheStep, size: Int) async throws {
        let directory = try TemporaryDirectory()
        let (path, stepName) = (directory.path, step.rawValue)
        await #expect(processExitsWith: .signal(SIGKILL)) {
            [path = path as String, stepName = stepName as String, size = size as Int] in
            let isArmed = Guarded(false)
            let cache = try HTTPCache(
                path, memoryLimit: 0, diskLimit: CacheCrashTests.limit(size),
                step: { step in
                    if isArmed.withLock({ $0 }), step.rawValue == stepName { kill(getpid(), SIGKILL) }
                })
            await cache.opened()
            for (second, letter) in ["a", "b"].enumerated() {
                await cache.load(
                    get("/\(letter)"), answer(200, Self.control), body: Self.body(letter, size),
                    at: at(Double(second)))
            }
            isArmed.withLock { $0 = true }
            await cache.load(get("/c"), answer(200, Self.control), body: Self.body("c", size * 3 / 2), at: at(2))
        }
        let errors = Journal<HTTPCacheError>()
        let cache = try HTTPCache(
            directory: path, memoryLimit: 0, diskLimit: Self.limit(size), onError: { errors.append($0) })
        await cache.opened()
        await cache.sweep(unfinishedAge: -3600)
        // The third body and the evictions that it causes are either complete or missing.
        let (a, b, c) = (Self.body("a", size), Self.body("b", size), Self.body("c", size * 3 / 2))
        let outcomes = [
            await cache.outcome(get("/a"), at: at(3)), await cache.outcome(get("/b"), at: at(3)),
            await cache.outcome(get("/c"), at: at(3)),
        ]
        let isCommitted = step == .committed
        // Between the removal of a body and the commit, the entry still exists and is a miss.
        let hasFirst = !isCommitted && step != .bodiesRemoved
        #expect(outcomes[0] == (hasFirst ? a : "load"))
        #expect(outcomes[1] == b || !hasFirst && outcomes[1] == "load")
        #expect(outcomes[2] == (isCommitted ? c : "load"))
        #expect(directory.bodies().count == outcomes.filter { $0 != "load" }.count)
        #expect(await cache.load(get("/c"), answer(200, Self.control), body: c, at: at(4)))
        #expect(await cache.outcome(get("/c"), at: at(4)) == c)
        #expect(errors.entries.isEmpty)
    }

    @Test func `two processes share a directory`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        async let child = #expect(processExitsWith: .success) { [path = path as String] in
            let wrong = try await CacheCrashTests.work(path, name: "child", seed: 1)
            #expect(wrong == 0)
        }
        #expect(try await Self.work(path, name: "parent", seed: 2) == 0)
        _ = await child
        let cache = try HTTPCache(directory: path, memoryLimit: 0)
        await cache.opened()
        #expect(await cache.outcome(get("/child")) == "child")
        #expect(await cache.outcome(get("/parent")) == "parent")
    }

    /// A process owns the locks of a file. When any code of the process closes the file, the process loses all of its
    /// locks.
    @Test func `a cache keeps its lock of the index while another cache of its process opens the index`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let first = try HTTPCache(directory: path, memoryLimit: 0)
        await first.load(get("/a"), answer(200, Self.control), body: "a", at: at(0))
        do {
            let second = try HTTPCache(directory: path, memoryLimit: 0)
            await second.opened()
        }
        let log = "\(path)/index-1.sqlite-wal"
        #expect(FileManager.default.fileExists(atPath: log))
        // The last process that closes the index removes its log.
        await #expect(processExitsWith: .success) { [path = path as String] in
            let other = try HTTPCache(directory: path, memoryLimit: 0)
            await other.opened()
            await other.load(get("/b"), answer(200, Self.control), body: "b", at: at(0))
        }
        #expect(FileManager.default.fileExists(atPath: log))
        let outcomes = [await first.outcome(get("/a")), await first.outcome(get("/b"))]
        #expect(outcomes == ["a", "b"])
    }
    #endif

    @Test func `two caches share a directory`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path
        let wrong = try await withThrowingTaskGroup(of: Int.self) { group in
            for seed in 0..<4 as Range<UInt64> {
                group.addTask { try await Self.work(path, name: "cache-\(seed)", seed: seed) }
            }
            return try await group.reduce(0, +)
        }
        #expect(wrong == 0)
    }

    /// Stores, reads and removes at random under a limit that evicts. Returns the number of wrong responses and
    /// reported errors.
    private static func work(_ path: String, name: String, seed: UInt64) async throws -> Int {
        let errors = Journal<HTTPCacheError>()
        // The time limit is long, because a slow disk can delay the cache that holds the index.
        let cache = try HTTPCache(
            path, memoryLimit: 5000, diskLimit: 40_000, busyTimeout: 60, step: { _ in },
            onError: { error in
                print("\(name): \(error)")
                errors.append(error)
            })
        var random = SeededRandom(seed: seed)
        var wrong = 0
        for step in 0..<150 {
            let number = random.below(12)
            let request = get("/\(number)")
            // Some entries share bodies. One cache can remove such a body while another cache stores it.
            let body = Self.body(String(number / 2), 100 + number / 2 * 900)
            switch random.below(10) {
            case 0..<4: await cache.load(request, answer(200, Self.control), body: body, at: at(Double(step)))
            case 4..<9:
                let outcome = await cache.outcome(request, at: at(Double(step)))
                if outcome != body, outcome != "load" {
                    print("\(name): \(number) is \(outcome)")
                    wrong += 1
                }
            default: await cache.remove("https://example.com/\(number)")
            }
        }
        await cache.load(get("/\(name)"), answer(200, Self.control), body: name, at: at(1000))
        return wrong + errors.entries.count
    }
}
