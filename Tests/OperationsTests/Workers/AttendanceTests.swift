#if !DEBUG
import Synchronization
import TestSupport
import Testing

@testable import Operations

/// One worker attends a queue of tiny operations. In a debug build no operation is tiny.
@Suite(.onOwnThread, .timeLimit(.minutes(1))) struct AttendanceTests {
    /// An attempt shows nothing if the worker was somewhere else, and attends again already.
    @Test func `a worker that loses its attendance while it waits for the lock does not attend after that`() {
        for _ in 0..<50 where Self.stopsAttending() { return }
        Issue.record("no worker stops attending")
    }

    private static func stopsAttending() -> Bool {
        let (queue, log) = (OperationQueue(), PromiseLog(capacity: 100_000))
        queue.isSuspended = true
        for _ in 0..<log.capacity { queue.addOperation { log.note() } }
        queue.isSuspended = false
        while !queue.signal.isAttended, log.count < log.capacity / 2 {}
        // The attending worker waits in the section in which an operation leaves. Meanwhile the monitor takes its promise.
        _ = queue.state.lock()
        let deadline = ContinuousClock.now + .seconds(1)
        let wasAttended = queue.signal.isAttended
        while queue.signal.isAttended, ContinuousClock.now < deadline {}
        let position = log.count
        queue.state.unlock()
        queue.waitUntilAllOperationsAreFinished()
        // The worker whose operation was the last one before that. While it attends, it promises to look.
        return wasAttended && log.nextPromise(of: position - 1) == false
    }
}

/// The worker of each operation, and whether it had promised to look, in the order in which the operations ran.
private final class PromiseLog: Sendable {
    private struct Entry { let worker: ObjectIdentifier, hasPromise: Bool }

    let capacity: Int
    private let next = Atomic(0)
    private let entries: [Guarded<Entry?>]

    init(capacity: Int) {
        self.capacity = capacity
        entries = (0..<capacity).map { _ in Guarded(nil) }
    }

    var count: Int { next.load(ordering: .sequentiallyConsistent) }

    func note() {
        guard let worker = ThreadContext.current.worker else { return }
        let index = next.wrappingAdd(1, ordering: .sequentiallyConsistent).oldValue
        entries[index].withLock { $0 = Entry(worker: ObjectIdentifier(worker), hasPromise: worker.obligation.isSet) }
    }

    /// Whether the worker of an operation had a promise in the next operation that it ran; nil if it ran no other one.
    func nextPromise(of index: Int) -> Bool? {
        guard index >= 0 else { return nil }
        let worker = entries[index].withLock { $0?.worker }
        return entries[(index + 1)...].lazy.compactMap { $0.withLock { $0 } }.first { $0.worker == worker }?.hasPromise
    }
}
#endif
