#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import OperationsTesting
import TestSupport
import Testing

/// Rule U2: OpenCombine's operators that schedule for a later date, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct DelayTests {
    private let virtual = VirtualQueue()
    private let subject = PassthroughSubject<Int, Never>()

    /// Sends values at these seconds.
    private func send(_ values: KeyValuePairs<Double, Int>) {
        for (second, value) in values {
            virtual.run(until: second)
            subject.send(value)
        }
    }

    /// Rule U2.
    @Test func `delay delivers each value after the interval`() {
        let token = virtual.note(subject.delay(for: .seconds(60), scheduler: virtual.scheduler))
        send([0: 1, 10: 2, 10.5: 3])
        subject.send(completion: .finished)
        virtual.run()
        #expect(virtual.arrivals == ["1@60.0", "2@70.0", "3@70.5", "end@70.5"])
        token.cancel()
    }

    /// Rule U2.
    @Test func `an action that waits for its date uses no slot and is not in the queue`() {
        virtual.queue.maxConcurrentOperationCount = 1
        let token = virtual.note(subject.delay(for: 60, scheduler: virtual.scheduler))
        subject.send(1)
        virtual.run(until: 59)
        #expect(virtual.queue.snapshot().waiting == 0 && virtual.queue.snapshot().executing == 0)
        virtual.queue.addOperation { [virtual] in virtual.note("other") }
        virtual.queue.cancelAllOperations()
        virtual.queue.addOperation { [virtual] in virtual.note("another") }
        virtual.run()
        #expect(virtual.arrivals == ["another@59.0", "1@60.0"])
        token.cancel()
    }

    /// Rules U2, Q5.
    @Test func `an action that is due while the queue is suspended waits for the resume`() {
        let token = virtual.note(subject.delay(for: 5, scheduler: virtual.scheduler))
        virtual.queue.isSuspended = true
        subject.send(1)
        virtual.run(until: 20)
        #expect(virtual.arrivals.isEmpty && virtual.queue.snapshot().waiting == 1)
        virtual.queue.isSuspended = false
        virtual.run()
        #expect(virtual.arrivals == ["1@20.0"])
        token.cancel()
    }

    /// Rule U2.
    @Test func `debounce delivers the last value after a quiet interval`() {
        let token = virtual.note(subject.debounce(for: .seconds(5), scheduler: virtual.scheduler))
        send([0: 1, 1: 2, 4: 3, 20: 4, 24.5: 5])
        virtual.run()
        #expect(virtual.arrivals == ["3@9.0", "5@29.5"])
        #expect(virtual.clock.sleeperCount == 0)
        token.cancel()
    }

    /// Rule U2.
    @Test func `throttle delivers the latest of each interval`() {
        let token = virtual.note(subject.throttle(for: 10, scheduler: virtual.scheduler, latest: true))
        send([0: 1, 1: 2, 3: 3, 25: 4])
        virtual.run()
        #expect(virtual.arrivals == ["1@0.0", "3@10.0", "4@25.0"])
        token.cancel()
    }

    /// Rule U2.
    @Test func `timeout completes the stream after a quiet interval`() {
        let token = virtual.note(subject.timeout(5, scheduler: virtual.scheduler))
        send([3: 1, 7: 2])
        virtual.run()
        #expect(virtual.arrivals == ["1@3.0", "2@7.0", "end@12.0"])
        #expect(virtual.clock.sleeperCount == 0)
        token.cancel()
    }

    /// Rule U2.
    @Test func `measureInterval measures the time between values`() {
        let token = virtual.note(
            subject.measureInterval(using: virtual.scheduler).map { $0.timeInterval })
        send([2: 1, 7.5: 2])
        #expect(virtual.journal.entries.map(\.what) == ["2.0", "5.5"])
        token.cancel()
    }

    /// Rule U2.
    @Test func `after the cancellation of a subscription no value arrives and no action waits`() {
        let debounced = virtual.note(subject.debounce(for: 50, scheduler: virtual.scheduler))
        let timed = virtual.note(subject.timeout(50, scheduler: virtual.scheduler))
        send([0: 1, 10: 2])
        virtual.run(until: 20)
        debounced.cancel()
        timed.cancel()
        virtual.run()
        #expect(virtual.arrivals == ["1@0.0", "2@10.0"])
        #expect(virtual.clock.sleeperCount == 0 && virtual.second == 20)
    }

    /// Rule U2.
    @Test func `actions run in the order of their dates, and then in the order of scheduling`() {
        virtual.queue.maxConcurrentOperationCount = 1
        for (name, second) in [("d", 4.0), ("b", 2), ("a", 1), ("c", 2), ("past", -8), ("e", 4)] {
            virtual.scheduler.schedule(after: virtual.instant(second)) { [virtual] in virtual.note(name) }
        }
        virtual.run()
        #expect(virtual.arrivals == ["past@0.0", "a@1.0", "b@2.0", "c@2.0", "d@4.0", "e@4.0"])
    }

    /// Rule U2.
    @Test func `infinite dates and dates that are not numbers stop nothing`() {
        virtual.scheduler.schedule(after: virtual.instant(.nan)) { [virtual] in virtual.note("nan") }
        virtual.scheduler.schedule(after: .init(.distantPast)) { [virtual] in virtual.note("past") }
        let dates: [OperationQueue.SchedulerTimeType] = [.init(.distantFuture), virtual.instant(.infinity)]
        let tokens = dates.map { date in
            virtual.scheduler.schedule(after: date, interval: 1) { [virtual] in virtual.note("future") }
        }
        let queue = OperationQueue()
        let real = dates.map { date in
            queue.schedule(after: date, interval: 1) { [virtual] in virtual.note("real") }
        }
        virtual.run(until: 1_000_000)
        #expect(virtual.arrivals == ["nan@0.0", "past@0.0"])
        for token in tokens + real { token.cancel() }
        virtual.run()
        #expect(virtual.clock.sleeperCount == 0 && virtual.arrivals.count == 2)
    }

    /// Rules U2, Q1.
    @Test func `a queue lives until its delayed actions have run, and is freed then`() {
        let clock = VirtualClock()
        let executor = ManualExecutor()
        var queue: OperationQueue? = executor.makeQueue()
        let seen = Weak(queue)
        let hasRun = Guarded(false)
        let scheduler = queue!.scheduler(clock: clock)
        scheduler.schedule(after: scheduler.now.advanced(by: 5)) { hasRun.withLock { $0 = true } }
        queue = nil
        _ = consume scheduler
        #expect(!seen.isGone)
        executor.runUntilIdle(advancing: clock)
        #expect(hasRun.withLock { $0 } && seen.isGone)
    }
}
#endif
