import Foundation
import HTTPCaching
import TestSupport
import Testing

@Suite struct EvictionTests {
    private struct Model {
        let limit: Int
        var entries: [(key: String, size: Int, used: Int, stored: Int)] = []

        var cost: Int { entries.reduce(0) { $0 + $1.size + overhead } }

        mutating func store(_ key: String, _ size: Int, _ now: Int, age: Int) {
            guard size + overhead <= limit else { return }
            entries.removeAll { $0.key == key }
            entries.append((key, size, now, now))
            entries.removeAll { $0.stored < now - age }
            guard cost > limit else { return }
            entries.sort { $0.used < $1.used }
            while cost > limit / 10 * 9, entries.count > 1 { entries.removeFirst() }
        }
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(12, least: 4)))
    func `eviction matches a list that is sorted by last use`(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let directory = try TemporaryDirectory()
        let limit = 1000 + random.below(20_000)
        let age = random.chance(50) ? 40 : 1_000_000
        let cache =
            seed.isMultiple(of: 3)
            ? HTTPCache.inMemory(limit: limit, ageLimit: .seconds(age))
            : try HTTPCache(
                directory: directory.path, memoryLimit: random.below(4000), diskLimit: limit, ageLimit: .seconds(age))
        await cache.opened()
        var model = Model(limit: limit)
        for step in 0..<200 {
            let key = String(random.below(20))
            if random.chance(50) {
                // Each body has a different byte, so that no two entries share a file.
                let data = Data(repeating: UInt8(step % 256), count: random.below(2500))
                await cache.store(data, forKey: key, now: at(Double(step)))
                model.store(key, data.count, step, age: age)
            } else {
                let place = model.entries.firstIndex { $0.key == key && $0.stored >= step - age }
                let data = await cache.data(forKey: key, now: at(Double(step)))
                #expect(data?.count == place.map { model.entries[$0].size }, "step \(step)")
                if let place { model.entries[place].used = step }
            }
            guard step.isMultiple(of: 20) else { continue }
            #expect(await cache.size == Int64(model.cost), "step \(step)")
            #expect(await cache.count == model.entries.count)
        }
    }

    @Test func `evicted bodies leave no file, and bodies of another entry remain`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path, diskLimit: 3000)
        let (shared, other) = (Data(repeating: 1, count: 500), Data(repeating: 2, count: 500))
        await cache.store(shared, forKey: "a", now: at(1))
        await cache.store(shared, forKey: "b", now: at(2))
        await cache.store(other, forKey: "c", now: at(3))
        #expect(directory.bodies().count == 2)
        await cache.removeData(forKey: "a")
        #expect(directory.bodies().count == 2)
        #expect(await cache.data(forKey: "b") == shared)
        await cache.store(other, forKey: "b")
        #expect(directory.bodies().count == 1)
        await cache.store(Data(repeating: 3, count: 2300), forKey: "d")
        #expect(directory.bodies().count == 1)
        #expect(await cache.count == 1)
        await cache.removeAll()
        #expect(directory.bodies() == [])
        #expect(await cache.size == 0)
    }

    @Test func `a body above the limit is not stored and evicts nothing`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path, diskLimit: 1000)
        #expect(await cache.store(Data(count: 100), forKey: "a"))
        #expect(await !cache.store(Data(count: 900), forKey: "b"))
        #expect(await cache.store(Data(count: 644), forKey: "c"))
        #expect(await cache.data(forKey: "a") == nil)
        #expect(await cache.data(forKey: "c")?.count == 644)
        #expect(await !cache.load(get(), answer(), body: String(repeating: "x", count: 2000)))
    }

    @Test func `a session's entries are removed when their bodies are evicted from memory`() async throws {
        let directory = try TemporaryDirectory()
        let cache = try HTTPCache(directory: directory.path, memoryLimit: 2000)
        await cache.store(Data(repeating: 1, count: 1500), forKey: "a", retention: .session)
        await cache.store(Data(repeating: 2, count: 1500), forKey: "b")
        #expect(await cache.data(forKey: "a") == nil)
        #expect(await cache.data(forKey: "b")?.count == 1500)
        #expect(await cache.count == 1)
    }
}

/// The size in bytes that an entry of data adds to its body.
private let overhead = 256
