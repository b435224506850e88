#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import OperationsTesting
import TestSupport
import Testing

/// Rule U2: an action at a date and at each interval after it, in virtual time.
@Suite(.timeLimit(.minutes(5))) struct RepetitionTests {
    private let virtual = VirtualQueue()
    private let token = Guarded<(any Cancellable)?>(nil)

    /// Records the runs from a given second on. The body receives the number of previous runs.
    private func begin(
        from first: Double, every interval: OperationQueue.SchedulerTimeType.Stride,
        _ body: @escaping (Int) -> Void = { _ in }
    ) {
        let count = Guarded(0)
        let new = virtual.scheduler.schedule(after: virtual.instant(first), interval: interval) { [virtual] in
            virtual.note("run")
            body(
                count.withLock { count in
                    defer { count += 1 }
                    return count
                })
        }
        token.withLock { $0 = new }
    }

    private func cancel() { token.withLock { $0 }?.cancel() }

    private var seconds: [Double] { virtual.journal.entries.map(\.second) }

    /// Rule U2.
    @Test func `a repetition runs at its date and at each interval, until its own action cancels it`() {
        begin(from: 10, every: 2.5) { if $0 == 3 { cancel() } }
        virtual.run()
        #expect(seconds == [10, 12.5, 15, 17.5])
        #expect(virtual.clock.sleeperCount == 0)
    }

    /// Rule U2.
    @Test func `a repetition ends when its token is released`() {
        begin(from: 1, every: 1)
        virtual.run(until: 3.5)
        token.withLock { $0 = nil }
        virtual.run()
        #expect(seconds == [1, 2, 3] && virtual.clock.sleeperCount == 0)
    }

    /// Rules U2, Q5.
    @Test func `a suspended queue has one delayed run, and later runs keep their dates`() {
        begin(from: 10, every: 5) { if $0 == 3 { cancel() } }
        virtual.run(until: 12)
        virtual.queue.isSuspended = true
        virtual.run(until: 33)
        #expect(seconds == [10] && virtual.queue.snapshot().waiting == 1)
        virtual.queue.isSuspended = false
        virtual.run()
        #expect(seconds == [10, 33, 35, 40])
    }

    /// Rules U2, M12.
    @Test func `a run of a repetition on a full queue is skipped, and a single action waits for capacity`() throws {
        virtual.queue.setCapacity(1)
        virtual.queue.isSuspended = true
        let first = BlockOperation {}
        virtual.queue.addOperation(first)
        begin(from: 10, every: 5)
        virtual.scheduler.schedule(after: virtual.instant(12)) { [virtual] in virtual.note("once") }
        virtual.run(until: 18)
        #expect(virtual.journal.entries.isEmpty && !first.isFinished)
        virtual.queue.isSuspended = false
        virtual.run(until: 21)
        cancel()
        #expect(virtual.arrivals == ["once@18.0", "run@20.0"])
    }

    /// Rule U2.
    @Test func `a repetition without a pause does not loop forever when the queue is full`() throws {
        virtual.queue.setCapacity(1)
        virtual.queue.isSuspended = true
        virtual.queue.addOperation {}
        begin(from: 1, every: 0)
        virtual.run(until: 3)
        cancel()
        #expect(virtual.journal.entries.isEmpty)
    }

    /// Rule U2.
    @Test func `a run that is longer than the interval skips dates and never overlaps with another run`() {
        let isRunning = Guarded(false)
        begin(from: 10, every: 5) { [virtual] number in
            #expect(!isRunning.withLock { $0 })
            isRunning.withLock { $0 = true }
            if number == 0 { virtual.clock.advance(by: .seconds(12)) } else if number == 2 { cancel() }
            isRunning.withLock { $0 = false }
        }
        virtual.run()
        #expect(seconds == [10, 25, 30])
    }

    /// Rules U2, G1: the operation is cancelled, so it does not count as a unit.
    @Test func `a queued run does not begin after the cancellation`() {
        begin(from: 1, every: 1)
        virtual.queue.progress.totalUnitCount = 5
        virtual.queue.isSuspended = true
        virtual.run(until: 5)
        #expect(virtual.queue.snapshot().waiting == 1)
        cancel()
        virtual.queue.isSuspended = false
        virtual.run()
        #expect(seconds.isEmpty && virtual.queue.snapshot().waiting == 0 && virtual.clock.sleeperCount == 0)
        #expect(virtual.queue.progress.completedUnitCount == 0)
    }

    /// Rules U2, C5.
    @Test func `a run that is cancelled with the queue's operations is skipped, and the next run follows`() {
        begin(from: 1, every: 10) { if $0 == 1 { cancel() } }
        virtual.queue.isSuspended = true
        virtual.run(until: 5)
        virtual.queue.cancelAllOperations()
        virtual.queue.isSuspended = false
        virtual.run()
        #expect(seconds == [11, 21])
    }

    /// Rule U2.
    @Test(arguments: [0, -1, .nan] as [Double]) func `a repetition without an interval runs again at once`(
        interval: Double
    ) {
        begin(from: 1, every: .seconds(interval)) { if $0 == 9 { cancel() } }
        virtual.run()
        #expect(seconds == Array(repeating: 1, count: 10))
    }

    /// Rule U2.
    @Test func `cancelling releases the action's captures, for every date`() {
        final class Held: Sendable {}
        var held: [Held] = (0..<200).map { _ in Held() }
        let seen = held.map { Weak($0) }
        var tokens = held.map { held in
            virtual.scheduler.schedule(after: virtual.instant(1e6), interval: 1) { withExtendedLifetime(held) {} }
        }
        held = []
        #expect(!seen.contains { $0.isGone })
        for token in tokens { token.cancel() }
        tokens = []
        #expect(seen.allSatisfy { $0.isGone })
        virtual.run()
        #expect(virtual.clock.sleeperCount == 0 && virtual.second == 0)
    }

    /// Rule U2.
    @Test func `an action that holds its own token is released after it has cancelled the token`() {
        final class Held: Sendable {
            let token = Guarded<(any Cancellable)?>(nil)
        }
        var held: Held? = Held()
        let seen = Weak(held)
        let new = virtual.scheduler.schedule(after: virtual.instant(1), interval: 1) { [held] in
            held?.token.withLock { $0 }?.cancel()
        }
        held?.token.withLock { $0 = new }
        held = nil
        #expect(!seen.isGone)
        virtual.run()
        #expect(seen.isGone)
    }

    /// Rule U2: cancelling on two threads at a time, while a run begins or ends or while the next run is due.
    @Test(.tags(.threads)) func `after cancel has returned on any thread, no run begins`() {
        let queue = OperationQueue()
        var counts: [(count: Guarded<Int>, last: Int)] = []
        for _ in 0..<300 {
            let (count, hasRun) = (Guarded(0), Gate(2))
            let token = Guarded(
                queue.schedule(after: queue.now, interval: 0) {
                    count.withLock { $0 += 1 }
                    hasRun.open()
                })
            let threads = (0..<2).map { _ in
                TestThread {
                    hasRun.pass()
                    let token = token.withLock { $0 }
                    token.cancel()
                }
            }
            for thread in threads { thread.join() }
            // A run that has begun ends here.
            queue.waitUntilAllOperationsAreFinished()
            counts.append((count, count.withLock { $0 }))
        }
        queue.waitUntilAllOperationsAreFinished()
        for (count, last) in counts { #expect(count.withLock { $0 } == last) }
    }
}
#endif
