import Foundation
import OperationsTesting
import TestSupport
import Testing

@testable import OperationsCombine

struct TimelineTests {
    private let clock = VirtualClock()

    @Test func `the date begins with the reference date and goes on with the clock`() {
        clock.advance(by: .seconds(100))
        let timeline = Timeline(of: clock)
        #expect(timeline.now == 0 && timeline.position == 0)
        clock.advance(by: .milliseconds(2500))
        #expect(timeline.now == 2.5 && timeline.position == 2_500_000_000)
        #expect(timeline.deadline(of: 4) == 4_000_000_000)
    }

    @Test func `what is past or no number is due at once, and what is too far ahead in a hundred years`() {
        let timeline = Timeline(of: clock)
        for date in [-1, 0, -.infinity, .nan] as [Double] { #expect(timeline.deadline(of: date) == 0) }
        let furthest: UInt64 = 3_155_760_000_000_000_000
        for date in [1e12, .infinity, .greatestFiniteMagnitude] as [Double] {
            #expect(timeline.deadline(of: date) == furthest)
        }
    }

    @Test func `a system clock that is set is followed, and what was due stays as due as it was`() {
        let date = Guarded(Date(timeIntervalSinceReferenceDate: 1000))
        let timeline = Timeline(of: clock) { date.withLock { $0 } }
        #expect(timeline.now == 1000)
        let deadline = timeline.deadline(of: 1010)
        date.withLock { $0 += 3600 }
        #expect(timeline.now == 4600)
        #expect(deadline == timeline.deadline(of: 4610))
        date.withLock { $0 -= 7200 }
        #expect(timeline.now == -2600)
    }

    @Test func `a date that is off by less than a millisecond is left alone`() {
        let date = Guarded(Date(timeIntervalSinceReferenceDate: 1000))
        let timeline = Timeline(of: clock) { date.withLock { $0 } }
        date.withLock { $0 += 0.0009 }
        #expect(timeline.now == 1000)
    }

    @Test func `a date that took long to be read is not believed`() {
        let clock = clock
        let timeline = Timeline(of: clock) {
            clock.advance(by: .seconds(1))
            return Date(timeIntervalSinceReferenceDate: 5000)
        }
        #expect(timeline.now == 5002)
        #expect(timeline.now == 5003)
    }

    @Test func `an earlier date has no later deadline`() {
        let timeline = Timeline(of: clock) { Date(timeIntervalSinceReferenceDate: 8e8) }
        var date = 8e8
        for _ in 0..<1000 {
            let next = date.nextUp
            #expect(timeline.deadline(of: date) <= timeline.deadline(of: next))
            date = next
        }
    }
}
