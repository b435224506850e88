import SchedulerCore
import TestSupport
import Testing

@Suite struct RateLimiterTests {
    private static let second: UInt64 = 1_000_000_000

    /// Returns the instants of the starts, when each happens as early as permitted, or this many nanoseconds later.
    private func starts(_ rule: RateLimiter.Rule, until end: UInt64, lateness: UInt64 = 0) -> [UInt64] {
        var limiter = RateLimiter(rule)
        var (now, instants) = (UInt64(0), [UInt64]())
        while now < end {
            if limiter.mayStart(at: now) {
                limiter.started(at: now)
                instants.append(now)
            } else {
                let next = limiter.nextStart(after: now)
                #expect(next > now)
                now = next + lateness
            }
        }
        return instants
    }

    @Test func `a bucket gives its burst at once, and then permits at even intervals`() {
        let instants = starts(.tokenBucket(count: 10, period: Self.second, burst: 5), until: Self.second)
        #expect(instants == [0, 0, 0, 0, 0] + (1..<10).map { $0 * Self.second / 10 })
    }

    @Test func `a rate that does not divide a second is exact over a long time`() {
        let seconds = UInt64(Stress.rounds(10, least: 2))
        for count in [3, 7, 997, UInt64(Stress.rounds(123_457, least: 20_011))] {
            let instants = starts(
                .tokenBucket(count: count, period: Self.second, burst: 1), until: seconds * Self.second)
            #expect(instants.count == Int(seconds * count), "\(count)")
        }
    }

    /// Nothing that catches up would keep the bound of the bucket.
    @Test(arguments: [(1, 334), (2, 667), (3, 1000), (10, 1000)] as [(UInt64, Int)])
    func `a bucket reaches its rate in spite of late timers only if the burst covers the delay`(
        burst: UInt64, startsPerSecond: Int
    ) {
        let rule = RateLimiter.Rule.tokenBucket(count: 1000, period: Self.second, burst: burst)
        let instants = starts(rule, until: 10 * Self.second, lateness: Self.second / 500)
        #expect(abs(instants.count - 10 * startsPerSecond) <= 10)
        for (index, instant) in instants.enumerated() {
            let later = index + Int(burst)
            guard later < instants.count else { break }
            #expect(instants[later] - instant >= Self.second / 1000)
        }
    }

    @Test(arguments: [100, 150, 1000, 5000, 100_000] as [UInt64])
    func `the burst by default covers timers that are 5 ms late`(count: UInt64) {
        let burst = RateLimiter.Rule.burst(of: count, in: Self.second)
        #expect(burst == 1 + count / 100)
        let rule = RateLimiter.Rule.tokenBucket(count: count, period: Self.second, burst: burst)
        let instants = starts(rule, until: 2 * Self.second, lateness: Self.second / 200)
        #expect(instants.count >= 2 * Int(count))
    }

    @Test func `the burst by default is at least 1, and no number overflows`() {
        #expect(RateLimiter.Rule.burst(of: 1, in: .max) == 1)
        #expect(RateLimiter.Rule.burst(of: 99, in: Self.second) == 1)
        #expect(RateLimiter.Rule.burst(of: .max, in: 1) == .max)
    }

    @Test func `a bucket keeps no more than its burst, also after a long time without starts`() {
        var limiter = RateLimiter(.tokenBucket(count: 10, period: Self.second, burst: 3))
        for now in [0, 3600 * Self.second, UInt64.max - 1] {
            var permits = 0
            while limiter.mayStart(at: now) {
                limiter.started(at: now)
                permits += 1
            }
            #expect(permits == 3)
        }
    }

    @Test func `no time span of one period has more starts than the window permits`() {
        let instants = starts(.slidingWindow(count: 4, period: Self.second), until: 10 * Self.second)
        #expect(instants.count == 40)
        for (first, fifth) in zip(instants, instants.dropFirst(4)) { #expect(fifth - first >= Self.second) }
    }

    @Test func `a start that is taken back does not remove later starts from the window`() {
        var limiter = RateLimiter(.slidingWindow(count: 2, period: 100))
        let (first, second) = (limiter.started(at: 10), limiter.started(at: 50))
        limiter.takeBackStart(at: first)
        let start = limiter.mayStart(at: 60)
        // A thread that read its clock earlier than another one counts as starting later.
        let third = limiter.started(at: 40)
        #expect(start && third == second)
        limiter.takeBackStart(at: 12)
        let isOpenEarly = limiter.mayStart(at: 149)
        #expect(!isOpenEarly && limiter.nextStart(after: 149) == 150)
    }

    @Test func `a permit that is given back does not exceed the burst`() {
        var limiter = RateLimiter(.tokenBucket(count: 1, period: 10, burst: 1))
        let isOpen = limiter.mayStart(at: 0)
        let early = limiter.started(at: 0)
        let isOpenAgain = limiter.mayStart(at: 10)
        limiter.takeBackStart(at: early)
        limiter.started(at: 10)
        let isOpenTwice = limiter.mayStart(at: 10)
        #expect(isOpen && isOpenAgain && !isOpenTwice)
    }

    @Test func `the largest counts and periods cause no overflow`() {
        for (count, period, burst) in [(1, UInt64.max, 1), (.max, .max, .max), (.max, 1, .max), (1, .max, .max)]
            as [(UInt64, UInt64, UInt64)]
        {
            for rule in [
                RateLimiter.Rule.tokenBucket(count: count, period: period, burst: burst),
                .slidingWindow(count: count, period: period),
            ] {
                var limiter = RateLimiter(rule)
                for now in [0, 1, 1, 2, UInt64.max - 1, .max, .max] {
                    if limiter.mayStart(at: now) {
                        let time = limiter.started(at: now)
                        if count > 1, limiter.mayStart(at: now) {
                            limiter.takeBackStart(at: time)
                            limiter.started(at: now)
                        }
                    } else {
                        #expect(limiter.nextStart(after: now) >= now)
                    }
                }
            }
        }
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(50, least: 12)))
    func `neither rule is broken for any arrivals`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let (count, period) = (UInt64(1 + random.below(5)), UInt64(1 + random.below(1000)))
        let burst = UInt64(1 + random.below(6))
        for rule in [
            RateLimiter.Rule.tokenBucket(count: count, period: period, burst: burst),
            .slidingWindow(count: count, period: period),
        ] {
            var limiter = RateLimiter(rule)
            var (now, instants) = (UInt64(random.below(100)), [UInt64]())
            for _ in 0..<300 {
                if limiter.mayStart(at: now) {
                    limiter.started(at: now)
                    instants.append(now)
                } else if random.chance(30) {
                    let next = limiter.nextStart(after: now)
                    #expect(!limiter.mayStart(at: next - 1) && limiter.mayStart(at: next))
                    now = next
                }
                now += UInt64(random.below(Int(period)))
            }
            for (index, first) in instants.enumerated() {
                for (offset, last) in instants[index...].enumerated() {
                    let most =
                        if case .slidingWindow = rule { last - first < period ? count : .max } else {
                            burst + (last - first) * count / period + 1
                        }
                    if UInt64(offset + 1) > most {
                        Issue.record("seed \(seed), \(rule): \(offset + 1) in \(last - first)")
                    }
                }
            }
        }
    }
}
