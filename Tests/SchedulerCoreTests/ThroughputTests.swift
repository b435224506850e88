import SchedulerCore
import Testing

@Suite struct ThroughputTests {
    private static let millisecond: UInt64 = 1_000_000

    @Test func `a steady rate reads the same at each moment`() {
        var throughput = Throughput(span: 10)
        for event in 1...6000 as ClosedRange<UInt64> {
            let time = event * 10 * Self.millisecond
            throughput.note(at: time)
            guard event > 100 else { continue }
            #expect(abs(throughput.perSecond(at: time) - 100) < 1.1)
        }
    }

    @Test func `a burst counts for the span and then no more`() {
        var throughput = Throughput(span: 10)
        for _ in 0..<50 { throughput.note(at: 2500 * Self.millisecond) }
        #expect(throughput.perSecond(at: 5000 * Self.millisecond) == 10)
        #expect(throughput.perSecond(at: 11_999 * Self.millisecond) == 5)
        #expect(abs(throughput.perSecond(at: 12_500 * Self.millisecond) - 2.5) < 0.001)
        #expect(throughput.perSecond(at: 13_000 * Self.millisecond) == 0)
        #expect(throughput.perSecond(at: 10_000_000 * Self.millisecond) == 0)
    }

    @Test func `the throughput is zero at the beginning`() {
        #expect(Throughput(span: 10).perSecond(at: 0) == 0)
    }
}
