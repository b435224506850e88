import HTTPCore
import TestSupport
import Testing

@Suite struct BandwidthMeterTests {
    private static let second: UInt64 = 1_000_000_000

    @Test func `the rate is zero before the first byte and long after the last byte`() {
        var meter = BandwidthMeter()
        #expect(meter.rate(at: 0) == 0)
        #expect(meter.rate(at: .max) == 0)
        meter.record(1000, at: 10 * Self.second)
        #expect(meter.rate(at: 16 * Self.second) == 0)
        #expect(meter.rate(at: .max) == 0)
        #expect(meter.total == 1000)
    }

    @Test(arguments: [0, 7, 1_000_000_007, 123_456_789_012, UInt64.max - 20_000_000_000] as [UInt64])
    func `an even stream has its rate from the first second on`(start: UInt64) {
        var meter = BandwidthMeter()
        for step in 0..<1500 as Range<UInt64> {
            let now = start + step * 10_000_000
            meter.record(1000, at: now)
            if step >= 100 { #expect(abs(meter.rate(at: now) - 100_000) < 3000, "\(step)") }
        }
        #expect(meter.total == 1_500_000)
    }

    @Test func `a change of rate is measured after one window`() {
        var meter = BandwidthMeter(window: Self.second, slices: 10)
        for step in 0..<200 as Range<UInt64> { meter.record(1000, at: step * 10_000_000) }
        for step in 200..<400 as Range<UInt64> { meter.record(10, at: step * 10_000_000) }
        #expect(abs(meter.rate(at: 4 * Self.second) - 1000) < 100)
    }

    @Test func `one large piece has a finite rate, also with a clock that does not advance`() {
        var meter = BandwidthMeter(window: Self.second, slices: 10)
        meter.record(1_000_000, at: 5)
        #expect(meter.rate(at: 5) == 1e7)
        meter.record(1, at: 4)
        #expect(meter.rate(at: 0).isFinite)
    }
}

@Suite struct BandwidthCapTests {
    private static let second: UInt64 = 1_000_000_000

    /// Lets users transfer as fast as possible in pieces of the given sizes. Returns the number of bytes of each user.
    private func run(
        _ cap: inout BandwidthCap<Int>, pieces: [Int], from start: UInt64 = 0, until end: UInt64,
        asleep: ((Int, UInt64) -> UInt64)? = nil, at events: [(UInt64, (inout BandwidthCap<Int>, UInt64) -> Void)] = []
    ) -> [Int] {
        var (had, now, events) = (pieces.map { _ in 0 }, start, events[...])
        var comeback: [Int: UInt64] = [:]
        for user in pieces.indices { cap.request(pieces[user], for: user, at: now) }
        while true {
            if let event = events.first, event.0 <= now {
                event.1(&cap, now)
                events.removeFirst()
            }
            for (user, time) in comeback where time <= now {
                comeback[user] = nil
                cap.request(pieces[user], for: user, at: now)
            }
            for user in cap.granted(at: now) {
                had[user] += pieces[user]
                if let asleep {
                    comeback[user] = now + asleep(user, now)
                } else {
                    cap.request(pieces[user], for: user, at: now)
                }
            }
            let next =
                [cap.nextGrant(after: now), comeback.values.min(), events.first?.0].compactMap { $0 }.min() ?? end
            guard next < end else { return had }
            #expect(next > now || cap.rate == nil || !comeback.isEmpty || cap.nextGrant(after: now) == now)
            now = max(next, now + 1)
        }
    }

    @Test(arguments: [1000, 10_000, 123_457, 1_000_000, 50_000_000] as [UInt64])
    func `the rate over five seconds is exact within five percent`(rate: UInt64) {
        for start in [0, 12_345_678_901, UInt64.max / 2] {
            var cap = BandwidthCap<Int>(rate: rate)
            let piece = cap.piece
            let had = run(&cap, pieces: [piece], from: start, until: start + 5 * Self.second)[0]
            #expect(abs(Double(had) / Double(5 * rate) - 1) < 0.05, "\(rate): \(had)")
        }
    }

    @Test(arguments: 0..<30 as Range<UInt64>) func `the limit is never exceeded, with any pieces and pauses`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        let rate = UInt64(1 + random.below(100_000))
        var cap = BandwidthCap<Int>(rate: rate)
        var (now, passed) = (0 as UInt64, 0)
        for _ in 0..<200 {
            now += UInt64(random.below(200_000_000))
            let bytes = random.below(5000)
            cap.request(bytes, for: 0, at: now)
            while cap.granted(at: now).isEmpty { now = max(cap.nextGrant(after: now)!, now) }
            passed += bytes
            // The credit counts from the start, including the credit of times without requests.
            #expect(Double(passed) <= Double(rate) * (Double(now) / 1e9) + 1)
        }
    }

    @Test(arguments: [1000, 100_000, 10_000_000] as [UInt64])
    func `late calls do not make the rate less exact`(rate: UInt64) {
        var cap = BandwidthCap<Int>(rate: rate)
        var random = SeededRandom(seed: rate)
        var (now, passed) = (0 as UInt64, 0)
        cap.request(cap.piece, for: 0, at: 0)
        while true {
            now = cap.nextGrant(after: now)! + UInt64(random.below(20_000_000))
            guard now < 5 * Self.second else { break }
            while !cap.granted(at: now).isEmpty {
                passed += cap.piece
                cap.request(cap.piece, for: 0, at: now)
            }
        }
        #expect(abs(Double(passed) / Double(5 * rate) - 1) < 0.05, "\(passed)")
    }

    @Test func `users share the limit by bytes, with pieces of any size`() {
        for pieces in [[1000, 1000], [500, 16000], [100, 1000, 10_000], Array(repeating: 1000, count: 20)] {
            var cap = BandwidthCap<Int>(rate: 1_000_000)
            let had = run(&cap, pieces: pieces, until: 5 * Self.second)
            let share = 5_000_000 / pieces.count
            for (user, bytes) in had.enumerated() {
                #expect(abs(bytes - share) < share / 20 + pieces.max()!, "\(pieces) \(user) \(had)")
            }
            #expect(abs(had.reduce(0, +) - 5_000_000) < 250_000)
        }
    }

    @Test func `a slow user gets all requested bytes, and the other user gets the rest`() {
        var cap = BandwidthCap<Int>(rate: 1_000_000)
        // User 0 requests 10000 bytes about ten times a second. User 1 always has a waiting request.
        let had = run(&cap, pieces: [10_000, 5000], until: 5 * Self.second) { user, _ in user == 0 ? 90_000_000 : 0 }
        #expect(had[0] > 400_000)
        #expect(had[0] + had[1] > 4_750_000)
    }

    @Test func `an absent user gains no credit`() {
        var cap = BandwidthCap<Int>(rate: 1000)
        var had = [0, 0]
        var now: UInt64 = 0
        cap.request(100, for: 0, at: 0)
        cap.request(100, for: 1, at: 0)
        while now < 10 * Self.second {
            for user in cap.granted(at: now) {
                had[user] += 100
                // User 1 comes back after five seconds.
                if user == 0 || now >= 5 * Self.second { cap.request(100, for: user, at: now) }
            }
            let next = cap.nextGrant(after: now)!
            if now < 5 * Self.second, next >= 5 * Self.second { cap.request(100, for: 1, at: 5 * Self.second) }
            now = next
        }
        #expect(abs(had[1] - 2600) <= 300, "\(had)")
    }

    @Test func `a change of the limit applies to waiting users, in both directions`() {
        var cap = BandwidthCap<Int>(rate: 10)
        cap.request(1000, for: 0, at: 0)
        #expect(cap.granted(at: 0).isEmpty)
        #expect(cap.nextGrant(after: 0) == 100 * Self.second)
        cap.setRate(1000, at: 0)
        #expect(cap.nextGrant(after: 0) == Self.second)
        cap.setRate(10, at: Self.second / 2)
        #expect(cap.nextGrant(after: Self.second / 2) == Self.second / 2 + 50 * Self.second)
        cap.setRate(nil, at: Self.second)
        #expect(cap.granted(at: Self.second) == [0])
        #expect(cap.nextGrant(after: Self.second) == nil)
    }

    @Test func `the rate is exact before and after a change`() {
        var cap = BandwidthCap<Int>(rate: 100_000)
        let change: (inout BandwidthCap<Int>, UInt64) -> Void = { $0.setRate(300_000, at: $1) }
        let had = run(&cap, pieces: [1000], until: 10 * Self.second, at: [(5 * Self.second, change)])[0]
        #expect(abs(had - 2_000_000) < 50_000)
    }

    @Test func `without a limit every request is granted, and a change of the limit leaves no debt`() {
        var cap = BandwidthCap<String>(rate: nil)
        #expect(cap.nextGrant(after: 5) == nil)
        for user in ["a", "b"] { cap.request(1 << 30, for: user, at: 0) }
        #expect(cap.granted(at: 0) == ["a", "b"])
        cap.setRate(1000, at: 0)
        cap.request(100, for: "a", at: 0)
        #expect(cap.granted(at: 0).isEmpty)
        #expect(cap.nextGrant(after: 0) == Self.second / 10)
    }

    @Test func `a withdrawn request uses no bytes`() {
        var cap = BandwidthCap<String>(rate: 1000)
        cap.request(1_000_000, for: "a", at: 0)
        cap.request(100, for: "b", at: 0)
        #expect(cap.granted(at: 0).isEmpty && cap.waitingCount == 2)
        cap.withdraw("a", at: 0)
        #expect(cap.granted(at: 0).isEmpty)
        #expect(cap.nextGrant(after: 0) == Self.second / 10)
        cap.withdraw("b", at: 0)
        cap.withdraw("unknown", at: 0)
        #expect(cap.nextGrant(after: 0) == nil && cap.waitingCount == 0)
    }

    @Test func `extreme values neither trap nor stall`() {
        for rate in [0, 1, UInt64.max] {
            var cap = BandwidthCap<Int>(rate: rate)
            #expect(cap.piece >= 1)
            cap.request(.max, for: 0, at: 0)
            _ = cap.granted(at: 0)
            #expect(cap.nextGrant(after: 0) != nil)
            _ = cap.granted(at: .max)
            cap.request(0, for: 1, at: .max)
            cap.request(-5, for: 2, at: 3)
            _ = cap.granted(at: .max)
            _ = cap.nextGrant(after: .max)
        }
    }
}
