import SchedulerCore
import Testing

@Suite struct RingTests {
    @Test func `elements come out in the order they went in, also across growth`() {
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
}
