import HTTPCore
import TestSupport
import Testing

@Suite struct RecentlyUsedTests {
    @Test(arguments: 0..<UInt64(50)) func `removed values match a list that is sorted by last use`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let limits = (cost: random.below(120), count: random.below(10))
        var kept = RecentlyUsed<Int, Int>(costLimit: limits.cost, countLimit: limits.count)
        var model: [(key: Int, value: Int, cost: Int)] = []
        func trim() -> [Int] {
            var gone: [Int] = []
            while model.count > limits.count || model.map(\.cost).reduce(0, +) > limits.cost {
                gone.append(model.removeFirst().value)
            }
            return gone
        }
        for step in 0..<400 {
            let key = random.below(12)
            let place = model.firstIndex { $0.key == key }
            switch random.below(7) {
            case 0...3:
                let cost = random.below(60) + (random.chance(5) ? 100 : 0)
                var gone = place.map { [model.remove(at: $0).value] } ?? []
                if cost > limits.cost || limits.count == 0 {
                    gone.append(step)
                } else {
                    model.append((key, step, cost))
                    gone += trim()
                }
                #expect(kept.insert(step, for: key, cost: cost) == gone)
            case 4, 5:
                #expect(kept.use(key) == place.map { model[$0].value })
                if let place { model.append(model.remove(at: place)) }
            default: #expect(kept.remove(key) == place.map { model.remove(at: $0).value })
            }
            #expect(kept.peek(key) == model.first { $0.key == key }?.value)
            #expect(kept.keys == model.map(\.key) && kept.count == model.count)
            #expect(kept.cost == model.map(\.cost).reduce(0, +))
        }
        #expect(kept.removeAll() == model.map(\.value))
        #expect(kept.count == 0 && kept.cost == 0)
    }
}
