import Testing

@testable import Operations

struct PaceTests {
    private static let fast = Pace.tiny - 1
    private static let slow = Pace.tiny

    @Test func `a worker sprints after one fast interval, and stops after two slow ones`() {
        var worker = Paced()
        #expect(!worker.isSprint)
        worker.runs(at: Self.fast)
        #expect(worker.isSprint)
        worker.runs(at: Self.slow)
        #expect(worker.isSprint)
        worker.runs(at: Self.slow)
        #expect(!worker.isSprint)
    }

    @Test func `a worker that is slow among others tries to sprint more and more rarely`() {
        var (worker, trials) = (Paced(), [Int]())
        for interval in 0..<2_000 {
            let wasSprint = worker.isSprint
            worker.runs(at: Self.slow, among: 2)
            if worker.isSprint, !wasSprint { trials.append(interval) }
        }
        // A trial takes two intervals. The pause begins with the second one, which is slow too.
        #expect(trials == [1, 7, 17, 35, 69, 135, 265, 523, 781, 1039, 1297, 1555, 1813])
    }

    @Test func `a trial continues as a sprint if one worker is as fast as both were together`() {
        var worker = Paced()
        for _ in 0..<2 { worker.runs(at: 4_000, among: 2) }
        // The other worker still disturbs in the first interval.
        for time: UInt64 in [4_000, 1_999, 1_999, 4_000, 1_999] {
            #expect(worker.isSprint)
            worker.runs(at: time)
        }
        #expect(worker.isSprint)
    }

    @Test func `a trial ends if one worker is slower than both were together, and then only tiny operations count`() {
        var worker = Paced()
        for _ in 0..<2 { worker.runs(at: 4_000, among: 2) }
        for _ in 0..<2 { worker.runs(at: 2_000) }
        #expect(!worker.isSprint)
        worker.runs(at: 1_999)
        #expect(!worker.isSprint)
        worker.runs(at: Self.fast)
        #expect(worker.isSprint)
    }

    @Test(arguments: [(Pace.disturbed, 2), (Pace.tiny, 1)])
    func `a worker whose operations take long, or that is alone, tries nothing`(time: UInt64, workers: Int) {
        var worker = Paced()
        for _ in 0..<1_000 {
            worker.runs(at: time, among: workers)
            #expect(!worker.isSprint)
        }
    }

    @Test func `the time in which a worker waits for work does not count`() {
        var pace = Pace(at: 1_000)
        pace.pause(at: 2_000)
        pace.resume(at: 1_000_000)
        pace.endInterval(among: 1, at: 1_000 + 1_000_000)
        #expect(pace.isSprint)
    }

    @Test func `an interval has 64 operations`() {
        var pace = Pace(at: 0)
        #expect((1...128).filter { _ in pace.ranOne() } == [64, 128])
    }
}

/// A worker, and its clock.
private struct Paced {
    private var pace = Pace(at: 0)
    private var now: UInt64 = 0

    var isSprint: Bool { pace.isSprint }

    /// Runs an interval of operations that take this time each, in nanoseconds.
    mutating func runs(at time: UInt64, among workers: Int = 1) {
        now += time * UInt64(Pace.interval)
        pace.endInterval(among: workers, at: now)
    }
}
