import Testing

@testable import Operations

struct PaceTests {
    private static let fast = Pace.tiny * UInt64(Pace.interval) - 1
    private static let slow = Pace.tiny * UInt64(Pace.interval)
    private static let tooSlow = Pace.disturbed * UInt64(Pace.interval)

    @Test func `a worker sprints after one fast interval, and stops after two slow ones`() {
        var pace = Pace()
        #expect(!pace.isSprint)
        pace.note(Self.fast)
        #expect(pace.isSprint)
        pace.note(Self.slow)
        #expect(pace.isSprint)
        pace.note(Self.slow)
        #expect(!pace.isSprint)
    }

    @Test func `a worker that is slow, perhaps because of another worker, tries to sprint more and more rarely`() {
        var (pace, trials) = (Pace(), [Int]())
        for interval in 0..<2_000 {
            let wasSprint = pace.isSprint
            pace.note(Self.slow)
            if pace.isSprint, !wasSprint { trials.append(interval) }
        }
        // A trial takes two intervals, and the pause begins at its end.
        #expect(trials == [3, 9, 19, 37, 71, 137, 267, 525, 783, 1041, 1299, 1557, 1815])
    }

    @Test func `a trial that succeeds continues as a sprint`() {
        var pace = Pace()
        for _ in 0..<4 { pace.note(Self.slow) }
        // The other worker still disturbs in the first interval.
        for time in [Self.slow, Self.fast, Self.slow, Self.fast] {
            #expect(pace.isSprint)
            pace.note(time)
        }
        #expect(pace.isSprint)
    }

    @Test func `a worker whose operations take long tries nothing`() {
        var pace = Pace()
        for _ in 0..<1_000 {
            pace.note(Self.tooSlow)
            #expect(!pace.isSprint)
        }
    }

    @Test func `the time in which a worker waits for work does not count`() {
        var pace = Pace(at: 1_000)
        pace.pause(at: 2_000)
        pace.resume(at: 1_000_000)
        pace.endInterval(at: 1_000 + 1_000_000)
        #expect(pace.isSprint)
    }
}
