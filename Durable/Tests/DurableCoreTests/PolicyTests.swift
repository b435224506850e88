import DurableCore
import Testing

@Suite struct PolicyTests {
    private func next(_ cron: String, after text: CivilTime) throws -> String {
        let instant = try CronSchedule(cron).next(after: text.instant)
        return instant?.description ?? "never"
    }

    private let start = CivilTime(year: 2026, month: 11, day: 25, hour: 19, minute: 0)

    @Test func `R5: a cron schedule returns the next matching time in UTC`() throws {
        #expect(try next("* * * * *", after: start) == "2026-11-25 19:01:00 UTC")
        #expect(try next("*/15 * * * *", after: start) == "2026-11-25 19:15:00 UTC")
        #expect(try next("0 3 * * *", after: start) == "2026-11-26 03:00:00 UTC")
        #expect(try next("30 4 1,15 * *", after: start) == "2026-12-01 04:30:00 UTC")
        #expect(try next("0 9 * * mon-fri", after: start) == "2026-11-26 09:00:00 UTC")
        #expect(try next("0 0 29 feb *", after: start) == "2028-02-29 00:00:00 UTC")
        #expect(try next("0 12 13 * fri", after: start) == "2026-11-27 12:00:00 UTC")
        #expect(try next("5/20 23 31 12 *", after: start) == "2026-12-31 23:05:00 UTC")
        #expect(try next("0 0 * * 7", after: start) == "2026-11-29 00:00:00 UTC")
    }

    @Test(arguments: [
        "", "* * * *", "60 * * * *", "a * * * *", "*/0 * * * *", "5-1 * * * *", "0 0 31 2 *", "1, * * * *",
    ])
    func `R5: an invalid cron schedule is refused`(_ text: String) {
        #expect(throws: DurableError.self) { try CronSchedule(text) }
    }

    @Test func `R5: cron schedules of all forms and instants at the ends of the range stop no process`() throws {
        for text in ["*/9223372036854775807 * * * *", "1/9223372036854775807 * * * *", "0,0,0 0-0 1-31/31 jan-dec *"] {
            _ = try CronSchedule(text)
        }
        let hostile = [
            "*/99999999999999999999 * * * *", "-1 * * * *", "1- * * * *", "-", "@dayly", "* * * * * * *", "\0 * * * *",
            "１ * * * *", "* * L * *", "* * * * mon#1", "1//2 * * * *", "*/-1 * * * *", "0x1 * * * *", "🙂 * * * *",
            "0 0 30 2 *", "1-2-3 * * * *", String(repeating: "*,", count: 100_000) + " * * * *",
        ]
        for text in hostile { #expect(throws: DurableError.self, "\(text.prefix(40))") { try CronSchedule(text) } }
        let yearly = try CronSchedule("0 0 29 feb *")
        #expect(yearly.next(after: DurableInstant(microseconds: .max)) == nil)
        #expect(yearly.next(after: DurableInstant(microseconds: .min)) != nil)
        #expect(DurableInstant(microseconds: .max).description == "294247-01-10 04:00:54 UTC")
        #expect(DurableInstant(microseconds: .min).description == "-290308-12-21 19:59:05 UTC")
        #expect(DurableInstant(microseconds: -1).description == "1969-12-31 23:59:59 UTC")
    }

    @Test func `calendar times and instants convert in both directions`() {
        for day in stride(from: Int64(-800_000), to: 800_000, by: 97) {
            let instant = DurableInstant(microseconds: day * 86_400_000_000 + 3_660_000_000)
            let time = CivilTime(instant)
            #expect(time.instant == instant)
            #expect((time.hour, time.minute) == (1, 1))
        }
    }

    @Test func `R19: the delays of retries grow, stay below the cap and include jitter`() {
        let plain = RetryRule.exponential(retries: 9, first: .seconds(1), cap: .seconds(60), jitter: 0)
        #expect((1...8).map { plain.delay(beforeRetry: $0, seed: 1) / 1_000_000 } == [1, 2, 4, 8, 16, 32, 60, 60])
        let linear = RetryRule.linear(.seconds(2), retries: 9, cap: .seconds(5))
        #expect((1...4).map { linear.delay(beforeRetry: $0, seed: 1) / 1_000_000 } == [2, 4, 5, 5])
        let random = RetryRule.exponential(retries: 9, first: .seconds(1), cap: .seconds(60))
        let delays = Set((1...100).map { random.delay(beforeRetry: 3, seed: $0) })
        #expect(delays.count > 90)
        #expect(delays.allSatisfy { (0...4_000_000).contains($0) })
        #expect(RetryRule(text: random.text) == random)
        #expect(RetryRule(text: linear.text) == linear)
        #expect(RetryRule(text: nil) == .none)
    }

    @Test func `R17: a rate permits a burst and then even starts`() {
        let rate = RateRule(4, per: .seconds(8))
        let now = DurableInstant(microseconds: 1_000_000_000)
        #expect(rate.allowance(filledAt: nil, now: now) == 4)
        let filled = rate.filledAt(afterStarts: 4, filledAt: nil, now: now)
        #expect(rate.allowance(filledAt: filled, now: now) == 0)
        #expect(rate.instant(permitting: 1, filledAt: filled, now: now) == now + .seconds(2))
        #expect(rate.instant(permitting: 3, filledAt: filled, now: now) == now + .seconds(6))
        #expect(rate.allowance(filledAt: filled, now: now + .seconds(2)) == 1)
        #expect(rate.allowance(filledAt: filled, now: now + .seconds(5)) == 2)
        #expect(rate.allowance(filledAt: filled, now: now + .seconds(8)) == 4)
    }

    @Test(arguments: [1, 2, 3, 999_999_937, 1_000_000_000], [1, 2, 999_983, 1_000_000_000_000_000] as [Int64])
    func `R17: a rate of extreme size does not overflow`(_ count: Int, _ period: Int64) throws {
        let rate = RateRule(count: Int64(count), period: period)
        try rate.check()
        let now = DurableInstant(microseconds: 1_800_000_000_000_000)
        let filled = rate.filledAt(afterStarts: rate.count, filledAt: nil, now: now)
        #expect(filled == now + .microseconds(period))
        #expect(rate.allowance(filledAt: filled, now: now) == 0)
        #expect(rate.allowance(filledAt: filled, now: filled) == rate.count)
        let next = rate.instant(permitting: 1, filledAt: filled, now: now)
        #expect(rate.allowance(filledAt: filled, now: next) >= 1)
        #expect(next == now || rate.allowance(filledAt: filled, now: next + .microseconds(-1)) == 0)
        // No start of the rule leads to the instant.
        let impossible = DurableInstant(microseconds: .max)
        #expect(rate.allowance(filledAt: impossible, now: now) == rate.count)
        #expect(rate.filledAt(afterStarts: rate.count, filledAt: impossible, now: now) == filled)
        #expect(rate.instant(permitting: 1, filledAt: impossible, now: now) == now)
    }

    @Test func `R17: a rate keeps its starts when the clock is set back by less than a period`() {
        let rate = RateRule(4, per: .seconds(8))
        let now = DurableInstant(microseconds: 1_000_000_000)
        let filled = rate.filledAt(afterStarts: 4, filledAt: nil, now: now)
        let earlier = now + .seconds(-8)
        #expect(rate.allowance(filledAt: filled, now: earlier) == 0)
        #expect(rate.instant(permitting: 1, filledAt: filled, now: earlier) == now + .seconds(2))
        #expect(rate.allowance(filledAt: filled, now: earlier + .microseconds(-1)) == 4)
    }
}
