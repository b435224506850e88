#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import Testing

/// Rule U2: the types that Foundation documents for a queue as a scheduler.
struct SchedulerTimeTypeTests {
    typealias Instant = OperationQueue.SchedulerTimeType
    private let instant = Instant(Date(timeIntervalSinceReferenceDate: 1000))

    /// Rule U2.
    @Test func `an instant wraps a date, and its distances are those of the dates`() {
        let later = instant.advanced(by: .seconds(90))
        #expect(later.date == Date(timeIntervalSinceReferenceDate: 1090))
        #expect(instant.distance(to: later) == 90 && later.distance(to: instant) == -90)
        #expect(instant < later && later > instant && instant == Instant(instant.date))
        #expect(Set([instant, later, instant.advanced(by: 0)]).count == 2)
        var changed = instant
        changed.date = later.date
        #expect(changed == later)
    }

    /// Rule U2.
    @Test func `intervals of every unit are converted to signed seconds`() {
        let spans: [(Instant.Stride, TimeInterval)] = [
            (.seconds(2), 2), (.seconds(-1.5), -1.5), (.milliseconds(250), 0.25), (.microseconds(-5), -5e-6),
            (.nanoseconds(7), 7e-9), (3, 3), (2.5, 2.5), (Instant.Stride(-4), -4),
        ]
        for (span, seconds) in spans { #expect(span.timeInterval == seconds && span.magnitude == seconds) }
        #expect(Instant.Stride(exactly: 12) == 12)
        #expect(Instant.Stride(exactly: Int64.max) == nil)
    }

    /// Rule U2.
    @Test func `intervals are compared, added, subtracted and multiplied`() {
        var span: Instant.Stride = 3
        #expect(span + 4 == 7 && span - 4 == -1 && span * 4 == 12 && -span == -3)
        #expect(span < 4 && !(span < 3) && max(span, 5) == 5)
        span += 2
        #expect(span == 5)
        span *= 3
        #expect(span == 15)
        span -= 10
        #expect(span == 5)
    }

    /// Rule U2.
    @Test func `instants and intervals are restored from their encoding`() throws {
        let span: Instant.Stride = 1.25
        let code = try JSONEncoder().encode([span])
        #expect(String(decoding: code, as: UTF8.self) == #"[{"magnitude":1.25}]"#)
        #expect(try JSONDecoder().decode([Instant.Stride].self, from: code) == [span])
        #expect(try JSONDecoder().decode(Instant.self, from: JSONEncoder().encode(instant)) == instant)
    }

    /// Rule U2.
    @Test func `now is the system's date, and the minimum tolerance is zero`() {
        let queue = OperationQueue()
        let (before, now, after) = (Date(), queue.now.date, Date())
        // One additional second: the queue's date may deviate while a busy machine prevents a comparison of the clocks.
        #expect(before.addingTimeInterval(-1) < now && now < after.addingTimeInterval(1))
        #expect(queue.minimumTolerance == 0)
    }

    /// Rule U2.
    @Test func `generic code can use a queue as a scheduler`() {
        func interval(_ scheduler: some Scheduler) -> Bool {
            scheduler.now < scheduler.now.advanced(by: .seconds(60))
        }
        #expect(interval(OperationQueue()))
        #expect(OperationQueue.SchedulerOptions?.none == nil)
    }
}
#endif
