import OperationsPrimitives
import TestSupport
import Testing

@Suite struct RingTests {
    @Test func `elements leave in the order in which they entered, also across growth`() {
        var ring = Ring<Int>()
        var expected = 0
        for i in 0..<1000 {
            ring.append(i)
            if i % 3 == 0 {
                #expect(ring.popFirst() == expected)
                expected += 1
            }
        }
        while let next = ring.popFirst() {
            #expect(next == expected)
            expected += 1
        }
        #expect(expected == 1000)
    }

    @Test func `an empty ring has no first and no last element`() {
        var ring = Ring<Int>()
        #expect(ring.isEmpty)
        #expect(ring.first == nil)
        #expect(ring.last == nil)
        #expect(ring.popFirst() == nil)
        ring.append(1)
        #expect(ring.popFirst() == 1)
        #expect(ring.isEmpty)
        #expect(ring.first == nil)
        #expect(ring.last == nil)
    }

    @Test(arguments: 1...UInt64(Stress.rounds(50, least: 10)))
    func `the ring behaves like an array`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var ring = Ring<Int>()
        var model: [Int] = []
        for step in 0..<500 {
            switch generator.below(10) {
            case 0..<5:
                ring.append(step)
                model.append(step)
            case 5..<7:
                guard !model.isEmpty else { continue }
                let (a, b) = (generator.below(model.count), generator.below(model.count))
                ring.swapAt(a, b)
                model.swapAt(a, b)
            case 7..<9: #expect(ring.popFirst() == (model.isEmpty ? nil : model.removeFirst()))
            default:
                guard !model.isEmpty else { continue }
                let place = generator.below(model.count)
                model[place] = -model[place]
                if generator.chance(50) { ring[place] = model[place] } else { ring[place].negate() }
            }
            try #require(ring.elements == model)
            try #require(ring.first == model.first && ring.last == model.last && ring.isEmpty == model.isEmpty)
        }
    }

    @Test func `an element is released when it leaves`() {
        final class Thing {}
        final class Weak {
            weak var thing: Thing?
            init(_ thing: Thing) { self.thing = thing }
        }
        var ring = Ring<Thing>()
        var watched: [Weak] = []
        do {
            let things = (0..<3).map { _ in Thing() }
            watched = things.map(Weak.init)
            for thing in things { ring.append(thing) }
        }
        #expect(watched.map { $0.thing != nil } == [true, true, true])
        _ = ring.popFirst()
        #expect(watched.map { $0.thing != nil } == [false, true, true])
        _ = ring.popFirst()
        #expect(watched.map { $0.thing != nil } == [false, false, true])
        _ = ring.popFirst()
        #expect(watched.map { $0.thing != nil } == [false, false, false])
    }
}

extension Ring {
    fileprivate var elements: [Element] { (0..<count).map { self[$0] } }
}
