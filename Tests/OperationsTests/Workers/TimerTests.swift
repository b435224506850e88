@testable import Operations
import SchedulerCore
import Synchronization
import TestSupport
import Testing

@Suite(.onOwnThread, .timeLimit(.minutes(2)), .serialized, .tags(.threads)) struct TimerTests {
    @Test(arguments: TimerClock.allCases)
    func `due timers fire in the order of their deadlines, in any order of their start`(clock: TimerClock) {
        let timers = Timers()
        var fired: [UInt64] = []
        for deadline: UInt64 in [3, 1, 2, .max] { _ = timers.add(TestTimer(clock, deadline: deadline) {}) }
        while clock.now < 3 {}
        timers.takeDue { fired.append($0.deadline) }
        #expect(fired == [1, 2, 3] && timers.countInMemory == 1)
    }

    /// The process was stopped, for example.
    @Test(arguments: TimerClock.allCases)
    func `timers that are late fire in turns, so that resumed work may end before its time limit`(clock: TimerClock) {
        let timers = Timers()
        var fired: [UInt64] = []
        while clock.now < 1_500_000_000 {}
        let times = [900, 700, 500].map { clock.now - $0 * 1_000_000 }
        for deadline in times.reversed() + [times[0] + 1] { _ = timers.add(TestTimer(clock, deadline: deadline) {}) }
        for turn in 1...3 {
            timers.takeDue { fired.append($0.deadline) }
            #expect(fired == [times[0], times[0] + 1, times[1], times[2]].prefix(turn + 1).map(\.self))
            guard turn < 3 else { break }
            // A look in between fires none.
            timers.takeDue { _ in Issue.record("the turn has begun too early") }
            #expect(timers.beginWait() <= CatchUp<Timer>.turn)
            let next = clock.now + CatchUp<Timer>.turn
            while clock.now < next {}
        }
        #expect(timers.beginWait() == .max)
    }

    @Test(arguments: TimerClock.allCases)
    func `an early timer does not wait for a late one that was started before`(clock: TimerClock) {
        let late = TestTimer(clock, deadline: clock.deadline(after: 3_600_000_000_000)) {}
        Monitor.shared.start(late)
        let isDone = Gate()
        Monitor.shared.start(TestTimer(clock, deadline: clock.deadline(after: 1_000_000)) { isDone.open() })
        isDone.pass()
        #expect(Monitor.shared.cancel(late))
        #expect(!Monitor.shared.cancel(late))
    }

    @Test func `no timer fires before its deadline`() {
        for clock in TimerClock.allCases {
            let fired = Atomic<UInt64>(0)
            let isDone = Gate()
            let deadline = clock.deadline(after: 3_000_000)
            Monitor.shared.start(
                TestTimer(clock, deadline: deadline) {
                    fired.store(clock.now, ordering: .relaxed)
                    isDone.open()
                })
            isDone.pass()
            #expect(fired.load(ordering: .relaxed) >= deadline)
        }
    }

    @Test func `cancelled timers are removed from memory before their deadlines`() {
        let hour: UInt64 = 3_600_000_000_000
        for _ in 0..<100_000 {
            let timer = TestTimer(.continuous, deadline: TimerClock.continuous.deadline(after: hour)) {}
            Monitor.shared.start(timer)
            Monitor.shared.cancel(timer)
        }
        #expect(Monitor.shared.timers.countInMemory < 10_000)
    }

    /// In a process of its own, because all queues of a process share the timers.
    @Test(.tags(.slow))
    func `the stall timers of released queues, and of changed delays, are removed from memory`() async {
        await #expect(processExitsWith: .success) {
            let rounds = Stress.rounds(20_000, least: 1_000)
            for round in 0..<rounds {
                let queue = OperationQueue()
                queue.stallDelay = .seconds(Int64.max)
                queue.isSuspended = true
                queue.addOperation {}
                if round.isMultiple(of: 2) { queue.stallDelay = .seconds(3_600) }
                queue.isSuspended = false
                await queue.waitUntilAllOperationsAreFinished()
            }
            #expect(Monitor.shared.timers.countInMemory < rounds / 2)
        }
    }

    @Test func `of a firing and a cancellation at the same time, one ends the timer`() {
        let count = 20_000
        let fires = Atomic(0)
        let cancellations = Atomic(0)
        let isDone = Gate(count)
        let timers = (0..<count).map { number in
            TestTimer(.suspending, deadline: TimerClock.suspending.deadline(after: UInt64(number) * 1_000)) {
                fires.wrappingAdd(1, ordering: .relaxed)
                isDone.open()
            }
        }
        let threads = (0..<4).map { part in
            TestThread {
                for index in stride(from: part, to: count, by: 4) {
                    Monitor.shared.start(timers[index])
                    // A timer of another thread: before, during or after its start.
                    guard Monitor.shared.cancel(timers[(index + 1) % count]) else { continue }
                    cancellations.wrappingAdd(1, ordering: .relaxed)
                    isDone.open()
                }
            }
        }
        for thread in threads { thread.join() }
        isDone.pass()
        #expect(fires.load(ordering: .relaxed) + cancellations.load(ordering: .relaxed) == count)
    }

    // MARK: - The wait of the monitor

    @Test func `a timer wakes the monitor only if it precedes the time of the next look`() {
        let (timers, clock) = (Timers(), TimerClock.suspending)
        let late = TestTimer(.suspending, deadline: clock.deadline(after: 3_600_000_000_000)) {}
        // No look is planned.
        #expect(timers.add(late))
        timers.takeDue { _ in Issue.record("the timer is not due") }
        #expect(timers.beginWait() > 3_500_000_000_000)
        #expect(!timers.add(TestTimer(.suspending, deadline: late.deadline) {}))
        #expect(timers.add(TestTimer(.continuous, deadline: TimerClock.continuous.deadline(after: 1_000_000_000)) {}))
        timers.endWait()
        // The monitor is about to look.
        #expect(!timers.add(TestTimer(.suspending, deadline: 1) {}))
        #expect(timers.countInMemory == 4)
    }

    @Test func `the monitor looks each minute while a timer follows the continuous clock`() {
        let (timers, clock) = (Timers(), TimerClock.continuous)
        #expect(timers.beginWait() == .max)
        _ = timers.add(TestTimer(clock, deadline: clock.deadline(after: 3_600_000_000_000)) {})
        #expect((59_000_000_000...60_000_000_000).contains(timers.beginWait()))
    }

    @Test func `a third of cancelled timers is removed at once`() {
        let timers = Timers()
        let all = (0..<300).map { _ in TestTimer(.suspending, deadline: .max) {} }
        for timer in all { _ = timers.add(timer) }
        let counts = all.map { timer in
            #expect(timers.cancel(timer))
            return timers.countInMemory
        }
        #expect(counts[99] == 300 && counts[100] == 199 && counts[299] < 65)
        #expect(!timers.cancel(all[0]))
    }

    @Test func `a timer that was cancelled before its start is not kept, and does not fire`() {
        let (timers, timer) = (Timers(), TestTimer(.suspending, deadline: 0) {})
        #expect(timers.cancel(timer))
        #expect(!timers.add(timer))
        timers.takeDue { _ in Issue.record("the timer was cancelled") }
        #expect(timers.countInMemory == 0 && timers.beginWait() == .max)
    }

    // MARK: - Sleeping

    @Test func `a sleep ends at its deadline, and a cancelled sleep throws`() async throws {
        let (continuous, suspending) = (ContinuousClock(), SuspendingClock())
        let starts = (continuous.now, suspending.now)
        try await continuous.sleepFully(until: starts.0 + .milliseconds(2))
        try await suspending.sleepFully(for: .milliseconds(2), since: starts.1)
        #expect(continuous.now >= starts.0 + .milliseconds(2) && suspending.now >= starts.1 + .milliseconds(2))
        for delay in [Duration.zero, .seconds(-1), .seconds(3600), .seconds(Int64.max)] {
            let task = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                try await continuous.sleepFully(for: delay)
            }
            await #expect(throws: CancellationError.self) { try await task.value }
            try await delay > .zero ? () : suspending.sleepFully(for: delay)
        }
    }

    @Test func `a sleep that is cancelled meanwhile ends at once, and throws`() async {
        let executor = HeldJobs()
        let sleeping = Task(executorPreference: executor) {
            try await ContinuousClock().sleepFully(for: .seconds(3600))
        }
        // The task sleeps when its first job has returned.
        executor.runNext()
        sleeping.cancel()
        executor.runNext()
        await #expect(throws: CancellationError.self) { try await sleeping.value }
    }

    @Test func `a sleep of an operation clock ends at its deadline`() async throws {
        let clock = OperationClock()
        let deadline = clock.now + .milliseconds(2)
        try await clock.sleep(until: deadline)
        #expect(clock.now >= deadline && ContinuousClock.now >= deadline)
        #expect(clock.minimumResolution == ContinuousClock().minimumResolution)
    }

    @Test func `a clock of the program that has the instants of a standard clock sleeps itself`() async throws {
        let clock = OwnClock()
        try await clock.sleepFully(until: clock.now + .seconds(3600))
        try await clock.sleepFully(for: .seconds(3600))
        #expect(clock.sleeps.load(ordering: .relaxed) == 2)
    }

    // MARK: - Blocked threads

    @Test func `time limits, rates, instants and retries need no thread of the concurrency runtime`() async {
        // In a process of its own, because all tasks of the process stand still.
        await #expect(processExitsWith: .success) {
            // Suspended, because a blocked test would occupy a thread of the runtime itself.
            await withUnsafeContinuation { continuation in
                _ = TestThread {
                    TimerTests.passTimeWithoutRuntime()
                    continuation.resume()
                }
            }
        }
    }

    private static func passTimeWithoutRuntime() {
        let (blocked, isOver) = (Gate(Processor.count), Gate())
        for _ in 0..<Processor.count * 4 {
            Task.detached {
                blocked.open()
                isOver.pass()
            }
        }
        blocked.pass()
        let (queue, clock) = (OperationQueue(), ContinuousClock())
        let limited = TaskOperation { while !Task.isCancelled { await Task.yield() } }
        limited.setTimeout(.milliseconds(5))
        let late = BlockOperation {}
        late.addDependency(Operations.Operation())
        late.setDeadline(SuspendingClock().now + .milliseconds(5), clock: SuspendingClock())
        let timed = BlockOperation {}
        timed.addCondition(.notBefore(clock.now + .milliseconds(5), clock: clock))
        let retried = TaskOperation {
            try await RetryPolicy(retries: 2, backoff: .constant(.milliseconds(5))).run { attempt in
                if attempt < 3 { throw OperationTimeout.timeout(.seconds(attempt)) }
            }
        }
        let sleeping = TaskOperation { try await OperationClock().sleep(for: .milliseconds(5)) }
        queue.addOperations([limited, late, timed, retried, sleeping], waitUntilFinished: false)
        queue.setRateLimit(.slidingWindow(1, per: .milliseconds(1)))
        queue.waitUntilAllOperationsAreFinished()
        precondition(limited.isCancelled && late.isCancelled && !timed.isCancelled)
        precondition(retried.operationOutcome == .succeeded && sleeping.operationOutcome == .succeeded)
        isOver.open()
    }
}

private final class TestTimer: Operations.Timer, @unchecked Sendable {
    // Sendable: a constant.
    private let body: @Sendable () -> Void

    init(_ clock: TimerClock, deadline: UInt64, _ body: @escaping @Sendable () -> Void) {
        self.body = body
        super.init(clock, deadline: deadline)
    }

    override func fire() { body() }
}

/// Keeps jobs until the test runs them.
private final class HeldJobs: TaskExecutor {
    private let jobs = Guarded<[UnownedJob]>([])

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    func runNext() {
        let job = jobs.withLock { $0.isEmpty ? nil : $0.removeFirst() }
        job?.runSynchronously(on: asUnownedTaskExecutor())
    }
}

/// A clock that shares the instants of `ContinuousClock`, and whose sleeps end at once.
private final class OwnClock: Clock {
    let sleeps = Atomic<Int>(0)
    var now: ContinuousClock.Instant { ContinuousClock.now }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
        sleeps.wrappingAdd(1, ordering: .relaxed)
    }
}
