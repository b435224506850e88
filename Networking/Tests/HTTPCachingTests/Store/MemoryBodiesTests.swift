import Foundation
import HTTPCaching
import TestSupport
import Testing

@Suite struct MemoryBodiesTests {
    @Test func `a body above the limit is not kept and evicts nothing`() {
        var bodies = MemoryBodies(limit: 10)
        #expect(bodies.insert(Data(count: 6), for: "a") == [])
        #expect(bodies.insert(Data(count: 11), for: "b") == [])
        #expect(bodies.contains("a") && !bodies.contains("b") && bodies.size == 6)
        #expect(bodies.insert(Data(count: 5), for: "c") == ["a"])
    }

    @Test(arguments: 0..<30 as Range<UInt64>)
    func `every sequence of calls gives the same result as a list`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let limit = random.below(100)
        var bodies = MemoryBodies(limit: limit)
        var model: [(digest: String, size: Int)] = []
        for step in 0..<500 {
            let digest = String(random.below(12))
            switch random.below(10) {
            case 0..<5:
                let size = random.below(40)
                var gone: [String] = []
                if size <= limit {
                    model.removeAll { $0.digest == digest }
                    model.append((digest, size))
                    while model.reduce(0, { $0 + $1.size }) > limit { gone.append(model.removeFirst().digest) }
                }
                #expect(bodies.insert(Data(count: size), for: digest) == gone)
            case 5..<9:
                let place = model.firstIndex { $0.digest == digest }
                #expect(bodies.use(digest)?.count == place.map { model[$0].size })
                if let place { model.append(model.remove(at: place)) }
            default:
                bodies.remove(digest)
                model.removeAll { $0.digest == digest }
            }
            #expect(bodies.digestsFromOldest == model.map(\.digest), "step \(step)")
            #expect(bodies.size == model.reduce(0) { $0 + $1.size } && bodies.count == model.count)
        }
        bodies.removeAll()
        #expect(bodies.size == 0 && bodies.digestsFromOldest == [])
    }
}
