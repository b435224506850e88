#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
@testable import Operations
import SchedulerCore
import Synchronization
import TestSupport
import Testing

/// Rule A19: clocks that stand still, step back or jump delay, and never stop the process.
@Suite(.timeLimit(.minutes(1))) struct ClockTests {
    @Test(
        arguments: [
            (0, 0, 0), (1, 5, 1_000_000_005), (-1, 999_999_999, 0), (.min, 0, 0), (.min, -1, 0), (0, -5, 0),
            (.max, 999_999_999, UInt64(Int64.max)), (9_223_372_036, 854_775_807, UInt64(Int64.max)),
            (9_223_372_036, 854_775_808, UInt64(Int64.max)), (0, .max, UInt64(Int64.max)), (1, .max, UInt64(Int64.max)),
        ] as [(Int, Int, UInt64)])
    func `a time before the start is 0, and a late one is the largest`(seconds: Int, rest: Int, expected: UInt64) {
        #expect(timespec(tv_sec: seconds, tv_nsec: rest).wholeNanoseconds == expected)
    }

    @Test func `the time since a later instant is 0`() {
        #expect(MonotonicClock.elapsed(since: .max) == 0)
        #expect(MonotonicClock.elapsed(since: MonotonicClock.now + 1_000_000_000_000) == 0)
        #expect(MonotonicClock.elapsed(since: 0) > 0)
    }

    @Test func `a pace measures intervals whose start is later than their end, and whose waits exceed them`() {
        let sharedUntil = Atomic<UInt64>(0)
        for start in [UInt64.max, 0, MonotonicClock.now] {
            var pace = Pace()
            for _ in 0..<100 {
                pace.addWait(since: start)
                _ = pace.endInterval(sharedUntil, workers: 4, attends: false)
            }
        }
    }

    @Test(arguments: 0..<3 as Range<UInt64>)
    func `limiters and deadlines take times in any order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        for rule: RateLimiter.Rule in [
            .tokenBucket(count: 3, period: 1_000, burst: 5), .slidingWindow(count: 3, period: 1_000),
            .tokenBucket(count: .max, period: .max, burst: .max),
        ] {
            var limiter = RateLimiter(rule)
            for _ in 0..<1_000 {
                let now: UInt64 = [0, .max, UInt64(Int64.max), .random(in: 0...10_000, using: &random)].randomElement(
                    using: &random)!
                if limiter.mayStart(at: now) {
                    let time = limiter.started(at: now)
                    if Bool.random(using: &random) { limiter.takeBackStart(at: time) }
                } else {
                    _ = limiter.nextStart(after: now)
                }
            }
        }
        #expect(TimerClock.continuous.deadline(after: .max) == .max)
        #expect(TimerClock.continuous.delay(until: 0) == 0)
    }
}
