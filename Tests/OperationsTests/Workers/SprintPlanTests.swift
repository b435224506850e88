import Testing

@testable import Operations

/// When one worker of a queue sprints, and when the workers share: see `SprintPlan`.
@Suite struct SprintPlanTests {
    @Test func `one worker runs tiny operations alone, also after a pause of its thread`() {
        var queue = Queue()
        #expect(queue.run(120, times: 100) == .alone)
        #expect(queue.run(50_000, times: 1) == .alone)
        #expect(queue.run(120, times: 100) == .alone)
        #expect(queue.sharedUntil == 0)
    }

    @Test func `one worker runs operations alone that are just tiny, and no longer ones`() {
        var queue = Queue()
        #expect(queue.run(399, times: 1_000) == .alone)
        #expect(queue.run(400, times: 7) == .alone)
        #expect(queue.run(400, times: 1) == .shared)
    }

    @Test func `workers share operations of half a microsecond nearly always`() {
        var queue = Queue()
        var shared = 0
        for _ in 0..<10_000 {
            let (time, workers): (UInt64, Int) = queue.attends ? (500, 1) : (700, 2)
            if queue.run(time, workers: workers, times: 1) == .shared { shared += 1 }
        }
        #expect(shared > 9_500)
    }

    @Test(arguments: [(700, 2), (1_900, 2), (3_000, 4), (7_000, 8)] as [(UInt64, Int)])
    func `workers that disturb each other leave tiny operations to one of them`(time: UInt64, workers: Int) {
        var queue = Queue(attends: false)
        #expect(queue.run(time, workers: workers, times: 1) == .alone)
        #expect(queue.run(100, times: 1_000) == .alone)
    }

    @Test func `a pause of the threads does not end the time in which workers share`() {
        var queue = Queue()
        queue.run(500, times: 8)
        queue.run(60_000, workers: 2, times: 3)
        #expect(queue.run(600, workers: 2, times: 10) == .shared)
    }

    @Test func `the time in which a worker waits for operations ends no sprint`() {
        var queue = Queue()
        #expect(queue.run(900, busy: 100, times: 1_000) == .alone)
        #expect(queue.sharedUntil == 0)
    }

    @Test func `a worker that waits long for each operation stops sprinting, and the workers may sprint soon again`() {
        var queue = Queue()
        queue.run(900, busy: 100, times: 1)
        #expect(queue.run(2_000, busy: 100, times: 1) == .alone)
        #expect(queue.run(2_000, busy: 100, times: 1) == .shared)
        #expect(queue.sharedUntil == 0)
        #expect(queue.run(100, times: 1) == .alone)
    }

    @Test func `operations that take a microsecond beside no other worker are shared`() {
        var queue = Queue(attends: false)
        #expect(queue.run(1_000, workers: 1, times: 1_000) == .shared)
        #expect(queue.run(2_000, workers: 2, times: 1_000) == .shared)
        #expect(queue.run(20_000, workers: 64, times: 1_000) == .shared)
        #expect(queue.sharedUntil == 0)
    }

    @Test func `operations that become long end a sprint after two intervals`() {
        var queue = Queue()
        queue.run(100, times: 50)
        #expect(queue.run(5_000, times: 1) == .alone)
        #expect(queue.run(5_000, times: 1) == .shared)
    }

    @Test func `operations that become tiny are run by one worker after 8 milliseconds`() {
        var queue = Queue()
        queue.run(500, times: 8)
        queue.wait(7_900_000)
        #expect(queue.run(600, workers: 2, times: 1) == .shared)
        queue.wait(100_000)
        #expect(queue.run(600, workers: 2, times: 1) == .alone)
        #expect(queue.run(100, times: 1_000) == .alone)
    }

    @Test func `a worker that attends while the workers share stops attending`() {
        var queue = Queue()
        queue.run(500, times: 8)
        queue.attends = true
        #expect(queue.run(100, times: 1) == .shared)
    }

    @Test func `objections before an end of the attendance do not count after it`() {
        var queue = Queue()
        queue.run(500, times: 7)
        queue.attends = false
        queue.run(500, times: 1)
        #expect(queue.run(500, times: 7) == .alone)
        #expect(queue.run(500, times: 1) == .shared)
    }
}

/// A queue with one worker whose intervals a test makes up.
private struct Queue {
    enum Mode { case alone, shared }

    var sharedUntil: UInt64 = 0
    var attends: Bool
    private var plan = SprintPlan()
    private var now: UInt64 = 1_000_000_000_000

    init(attends: Bool = true) { self.attends = attends }

    /// Runs intervals of 64 operations, and returns the mode after them.
    @discardableResult
    mutating func run(_ time: UInt64, busy: UInt64? = nil, workers: Int = 1, times: Int) -> Mode {
        for _ in 0..<times {
            now += 64 * time
            let interval = SprintPlan.Interval(
                time: time, busy: busy ?? time, end: now, attends: attends, workers: workers)
            attends = plan.sprints(after: interval, sharedUntil: &sharedUntil)
        }
        return attends ? .alone : .shared
    }

    mutating func wait(_ nanoseconds: UInt64) { now += nanoseconds }
}
