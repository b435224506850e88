#if !DEBUG
import Synchronization
import TestSupport
import Testing

@testable import Operations

/// One worker attends a queue of tiny operations. In a debug build no operation is tiny.
@Suite(.onOwnThread, .timeLimit(.minutes(1)), .tags(.release)) struct AttendanceTests {
    /// An attempt shows nothing if the monitor takes the promise too early, or not at all.
    @Test func `a worker that loses its attendance while it waits for the lock does not attend after that`() {
        for _ in 0..<50 {
            guard let attends = Attempt().attendsAfterLosingAttendance() else { continue }
            #expect(!attends)
            return
        }
        Issue.record("no worker lost its attendance while it waited for the lock")
    }
}

/// A queue of tiny operations, and the first operation that an attending worker runs.
private final class Attempt: Sendable {
    private let queue = OperationQueue()
    private let isDrained = Atomic(false)
    /// The address of the worker of that operation, once the operation runs.
    private let attending = Atomic<UInt>(0)
    private let isLocked = Atomic(false)
    private let hadPromise = Atomic(false)
    /// Whether the same worker had promised to look in the operation that it ran next. While it attends, it promises that.
    private let nextHadPromise = Guarded<Bool?>(nil)

    func attendsAfterLosingAttendance() -> Bool? {
        queue.isSuspended = true
        for _ in 0..<100_000 { queue.addOperation { self.run() } }
        queue.addBarrierBlock { self.isDrained.store(true, ordering: .releasing) }
        queue.isSuspended = false
        while attending.load(ordering: .acquiring) == 0 { if isDrained.load(ordering: .acquiring) { return nil } }
        // The worker waits in the section in which its operation leaves. Meanwhile the monitor takes its promise.
        _ = queue.state.lock()
        isLocked.store(true, ordering: .releasing)
        let deadline = ContinuousClock.now + .seconds(1)
        while queue.signal.isAttended, ContinuousClock.now < deadline {}
        let hasLostAttendance = !queue.signal.isAttended
        queue.state.unlock()
        queue.waitUntilAllOperationsAreFinished()
        return hasLostAttendance && hadPromise.load(ordering: .acquiring) ? nextHadPromise.withLock { $0 } : nil
    }

    private func run() {
        guard let worker = ThreadContext.current.worker else { return }
        let address = UInt(bitPattern: Unmanaged.passUnretained(worker).toOpaque())
        let attending = attending.load(ordering: .acquiring)
        if attending == address {
            nextHadPromise.withLock { if $0 == nil { $0 = worker.obligation.isSet } }
        } else if attending == 0, queue.signal.isAttended, worker.obligation.isSet {
            self.attending.store(address, ordering: .releasing)
            while !isLocked.load(ordering: .acquiring) {}
            hadPromise.store(worker.obligation.isSet, ordering: .releasing)
        }
    }
}
#endif
