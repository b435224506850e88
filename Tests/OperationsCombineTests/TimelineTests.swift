import Foundation
import Operations
import OperationsTesting
import TestSupport
import Testing

@testable import OperationsCombine

struct TimelineTests {
    private let clock = VirtualClock()

    @Test func `the date begins with the reference date and advances with the clock`() {
        clock.advance(by: .seconds(100))
        let timeline = Timeline(of: clock)
        #expect(timeline.now == 0 && timeline.position == 0)
        clock.advance(by: .milliseconds(2500))
        #expect(timeline.now == 2.5 && timeline.position == 2_500_000_000)
        #expect(timeline.deadline(of: 4) == 4_000_000_000)
    }

    @Test func `past dates and dates that are not numbers are due at once, and distant dates in a hundred years`() {
        let timeline = Timeline(of: clock)
        for date in [-1, 0, -.infinity, .nan] as [Double] { #expect(timeline.deadline(of: date) == 0) }
        let furthest: UInt64 = 3_155_760_000_000_000_000
        for date in [1e12, .infinity, .greatestFiniteMagnitude] as [Double] {
            #expect(timeline.deadline(of: date) == furthest)
        }
    }

    @Test func `a change of the system clock is followed, and existing deadlines stay unchanged`() {
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

    @Test func `a repetition keeps its interval when the system clock is set back by an hour`() {
        let (clock, executor, shift) = (clock, ManualExecutor(), Guarded(0.0))
        let timeline = Timeline(of: clock) {
            Date(timeIntervalSinceReferenceDate: 10_000 + clock.now.offset / .seconds(1) + shift.withLock { $0 })
        }
        let queue = executor.makeQueue()
        let runs = Journal<Double>()
        let repetition = Repetition(
            Action { runs.append(clock.now.offset / .seconds(1)) }, on: queue,
            by: Agenda(timeline, executor: queue.executorBeside), from: 10_010, every: 1)
        repetition.begin()
        executor.run(until: .init(offset: .seconds(15)), of: clock)
        shift.withLock { $0 = -3600 }
        executor.run(until: .init(offset: .seconds(20)), of: clock)
        repetition.cancel()
        #expect(runs.entries == (10...20).map(Double.init))
    }

    @Test func `a deviation of less than a millisecond is not corrected`() {
        let date = Guarded(Date(timeIntervalSinceReferenceDate: 1000))
        let timeline = Timeline(of: clock) { date.withLock { $0 } }
        date.withLock { $0 += 0.0009 }
        #expect(timeline.now == 1000)
    }

    @Test func `a date whose reading took long is ignored`() {
        let clock = clock
        let timeline = Timeline(of: clock) {
            clock.advance(by: .seconds(1))
            return Date(timeIntervalSinceReferenceDate: 5000)
        }
        #expect(timeline.now == 5002)
        #expect(timeline.now == 5003)
    }

    @Test func `an earlier date never has a later deadline`() {
        let timeline = Timeline(of: clock) { Date(timeIntervalSinceReferenceDate: 8e8) }
        var date = 8e8
        for _ in 0..<1000 {
            let next = date.nextUp
            #expect(timeline.deadline(of: date) <= timeline.deadline(of: next))
            date = next
        }
    }
}
