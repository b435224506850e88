import Testing

@testable import Operations

/// When one worker of a queue sprints, and when the workers share: see `SprintPlan`.
@Suite struct SprintPlanTests {
    @Test func `one worker runs tiny operations alone, also after a pause of its thread`() {
        var trial = Trial()
        #expect(trial.run(120, times: 100) == .alone)
        #expect(trial.run(50_000, times: 1) == .alone)
        #expect(trial.run(120, times: 100) == .alone)
        #expect(trial.plan == .untried)
    }

    @Test func `workers share operations of half a microsecond, if that is faster`() {
        var trial = Trial()
        #expect(trial.run(500, times: 7) == .alone)
        #expect(trial.run(500, times: 1) == .shared)
        #expect(trial.run(600, workers: 2, times: 100) == .shared)
    }

    @Test func `workers that disturb each other end the trial, and one of them sprints`() {
        var trial = Trial()
        trial.run(450, times: 8)
        #expect(trial.run(1_700, workers: 2, times: 7) == .shared)
        #expect(trial.run(1_700, workers: 2, times: 1) == .alone)
        #expect(trial.run(450, times: 1_000) == .alone)
    }

    @Test func `a pause of the threads does not end the trial of several workers`() {
        var trial = Trial()
        trial.run(500, times: 8)
        trial.run(60_000, workers: 2, times: 3)
        trial.run(600, workers: 2, times: 1)
        #expect(trial.run(60_000, workers: 2, times: 3) == .shared)
    }

    @Test func `eight workers that are three times as fast as one continue, though each is slower`() {
        var trial = Trial()
        trial.run(400, times: 8)
        #expect(trial.run(1_100, workers: 8, times: 100) == .shared)
        #expect(trial.run(2_700, workers: 8, times: 8) == .alone)
    }

    @Test func `one worker that shares with no other one cannot be slower`() {
        var trial = Trial()
        trial.run(500, times: 8)
        #expect(trial.run(900, workers: 1, times: 100) == .shared)
    }

    @Test func `the time in which a worker waits for operations starts no trial`() {
        var trial = Trial()
        #expect(trial.run(900, busy: 100, times: 1_000) == .alone)
        #expect(trial.plan == .untried)
    }

    @Test func `a worker that waits long for each operation stops sprinting`() {
        var trial = Trial()
        trial.run(900, busy: 100, times: 1)
        #expect(trial.run(2_000, busy: 100, times: 1) == .alone)
        #expect(trial.run(2_000, busy: 100, times: 1) == .shared)
        #expect(trial.plan == .untried)
    }

    @Test func `operations that take a microsecond beside no other worker are shared without a trial`() {
        var trial = Trial(attends: false)
        #expect(trial.run(1_000, workers: 1, times: 1_000) == .shared)
        #expect(trial.run(2_000, workers: 2, times: 1_000) == .shared)
        #expect(trial.run(20_000, workers: 64, times: 1_000) == .shared)
        #expect(trial.plan == .untried)
    }

    @Test func `eight workers that take two microseconds for each tiny operation leave it to one of them`() {
        var trial = Trial(attends: false)
        #expect(trial.run(2_000, workers: 8, times: 1) == .alone)
        #expect(trial.run(100, times: 1_000) == .alone)
    }

    @Test func `one worker tries operations of some microseconds for about a hundredth of the time`() {
        var trial = Trial(attends: false)
        var intervals = 0
        for _ in 0..<10_000 {
            let (time, workers): (UInt64, Int) = trial.attends ? (7_000, 1) : (7_500, 8)
            if trial.run(time, workers: workers, times: 1) == .alone { intervals += 1 }
        }
        #expect((1...120).contains(intervals))
    }

    @Test func `operations that become long end a sprint after two intervals, in each plan`() {
        var tiny = Trial()
        tiny.run(100, times: 50)
        #expect(tiny.run(5_000, times: 1) == .alone)
        #expect(tiny.run(5_000, times: 1) == .shared)
        var disturbed = Trial()
        disturbed.run(450, times: 8)
        disturbed.run(3_000, workers: 2, times: 4)
        #expect(disturbed.run(5_000, times: 1) == .alone)
        #expect(disturbed.run(5_000, times: 1) == .shared)
        #expect(disturbed.plan == .untried)
    }

    @Test func `operations that become tiny end the sharing after one interval, and the next trial comes later`() {
        var trial = Trial()
        trial.run(500, times: 8)
        #expect(trial.run(290, workers: 2, times: 1) == .alone)
        #expect(trial.run(450, times: 100) == .alone)
    }

    @Test func `workers that are together much slower than one end the trial after four intervals`() {
        var trial = Trial()
        trial.run(450, times: 8)
        #expect(trial.run(1_800, workers: 2, times: 3) == .shared)
        #expect(trial.run(1_800, workers: 2, times: 1) == .alone)
    }

    @Test func `each result expires, and the next trial may have another one`() {
        var trial = Trial()
        trial.run(500, times: 8)
        trial.wait(19_900_000)
        #expect(trial.run(600, workers: 2, times: 1) == .shared)
        trial.wait(100_000)
        #expect(trial.run(600, workers: 2, times: 1) == .alone)
        trial.run(450, times: 8)
        trial.run(3_000, workers: 2, times: 4)
        trial.wait(101_000_000)
        #expect(trial.run(450, times: 7) == .alone)
        #expect(trial.run(450, times: 1) == .shared)
    }

    @Test func `a new worker follows the result of the others`() {
        var trial = Trial()
        trial.run(500, times: 8)
        trial.becomeNewWorker()
        #expect(trial.run(600, workers: 2, times: 10) == .shared)
        trial.run(3_000, workers: 2, times: 4)
        trial.becomeNewWorker()
        #expect(trial.run(3_000, workers: 2, times: 1) == .alone)
    }

    @Test func `a worker whose operations are long stays beside one that sprints`() {
        var trial = Trial()
        trial.run(450, times: 8)
        trial.run(3_000, workers: 2, times: 4)
        trial.becomeNewWorker()
        #expect(trial.run(20_000, workers: 2, times: 1) == .shared)
    }

    @Test func `a worker that attends while the plan is to share stops attending`() {
        var trial = Trial()
        trial.run(500, times: 8)
        trial.attends = true
        #expect(trial.run(500, times: 1) == .shared)
    }

    /// The costs are a model of measured ones: an operation takes 90 ns besides its work, and a handover of the lock 230 ns.
    @Test(arguments: [2, 4, 8, 64]) func `for operations of any length, a queue is about as fast as in the better mode`(
        workers: Int
    ) {
        for work in stride(from: UInt64(0), through: 3_000, by: 50) {
            let alone = work + 90
            let each = max(work + 150, 230 * UInt64(workers))
            var trial = Trial(attends: false)
            var (time, count) = (0.0, 0.0)
            for _ in 0..<5_000 {
                let isAlone = trial.attends
                trial.run(isAlone ? alone : each, workers: isAlone ? 1 : workers, times: 1)
                time += Double(isAlone ? alone : each)
                count += Double(isAlone ? 1 : workers)
            }
            let best = min(Double(alone), Double(each) / Double(workers))
            #expect(time / count < 1.35 * best, "\(work) ns")
        }
    }

    @Test func `a queue keeps each plan, with the time of expiry rounded down to 65 microseconds`() {
        let shared = SharedSprintPlan()
        #expect(shared.load() == .untried)
        shared.store(.shared(alone: 999, expires: 7 << 16 | 5))
        #expect(shared.load() == .shared(alone: 999, expires: 7 << 16))
        shared.store(.alone(450, expires: 1 << 55))
        #expect(shared.load() == .alone(450, expires: 1 << 55))
        shared.store(.alone(.max, expires: 1 << 16))
        #expect(shared.load() == .alone((1 << 22) - 1, expires: 1 << 16))
        shared.store(.untried)
        #expect(shared.load() == .untried)
    }
}

/// One worker whose intervals a test makes up.
private struct Trial {
    enum Mode { case alone, shared }

    var plan = SprintPlan.untried
    var attends: Bool
    private var objections = SprintPlan.Objections()
    private var now: UInt64 = 1_000_000_000_000

    init(attends: Bool = true) { self.attends = attends }

    /// Runs intervals of 64 operations, and returns the mode after them.
    @discardableResult
    mutating func run(_ time: UInt64, busy: UInt64? = nil, workers: Int = 1, times: Int) -> Mode {
        for _ in 0..<times {
            now += 64 * time
            let interval = SprintPlan.Interval(
                time: time, busy: busy ?? time, end: now, attends: attends, workers: workers)
            attends = plan.sprints(after: interval, &objections)
        }
        return attends ? .alone : .shared
    }

    mutating func wait(_ nanoseconds: UInt64) { now += nanoseconds }

    mutating func becomeNewWorker() {
        attends = false
        objections = SprintPlan.Objections()
    }
}
