import TestSupport
import Testing

@testable import KeyValueObserving

@Suite(.timeLimit(.minutes(1))) struct FirstInFirstOutTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func `elements are removed in the order in which they were added`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var line = FirstInFirstOut<Int>()
        var (came, left) = (0, 0)
        for _ in 0..<1000 {
            if random.chance(55) {
                line.append(came)
                came += 1
            } else {
                #expect(line.popFirst() == (left < came ? left : nil), "seed \(seed)")
                left = min(left + 1, came)
            }
            #expect(line.isEmpty == (left == came), "seed \(seed)")
        }
    }

    @Test func `an element is released when it is removed`() {
        final class Object {}
        var line = FirstInFirstOut<Object>()
        for _ in 0..<100 { line.append(Object()) }
        for _ in 0..<99 {
            let weak = Weak(line.popFirst())
            #expect(weak.isGone)
        }
        #expect(!line.isEmpty)
    }
}
