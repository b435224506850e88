// Waiting for an operation, or for all of a queue, by a thread or a task.

import SchedulerCore

extension Operation {
    /// Misuse M8. `isFinished` as the system knows it: who waits for an operation that has left is never wrong.
    final func checkWait() throws(OperationError) {
        guard word.lifecycle.phase != .finished else { return }
        let context = ThreadContext.current
        if context.isRunning(self) { throw .waitsForItself(operation: label) }
        guard word.lifecycle.phase == .enqueued, let queue = context.innermost?.queue,
            self.queue?.toOpaque() == queue.toOpaque()
        else { return }
        try queue.takeUnretainedValue().checkWait(for: self)
    }

    /// The default `waitUntilFinished()`.
    final func waitForFinish() throws(OperationError) {
        guard !hasLeft else { return }
        try checkWait()
        if Processor.spin(until: { hasLeft }) { return }
        let parker = ThreadContext.current.parker
        guard enlist(.thread(parker)) else { return }
        Worker.blocking { parker.park() }
    }

    /// Misuse M8 for a task, which may be one that runs in parts (`TaskJob`): that holds no slot while it waits.
    final func checkSuspension() throws(OperationError) {
        if ThreadContext.current.innermost?.isPartOfTask != true { try checkWait() }
    }

    final func suspendUntilFinished() async {
        guard !hasLeft else { return }
        await withUnsafeContinuation { continuation in
            if !enlist(.task(continuation)) { continuation.resume() }
        }
    }

    private final var hasLeft: Bool { word.lifecycle.phase == .finished }

    /// Promises the waiter a wake; false when the operation has finished.
    private final func enlist(_ waiter: Waiter) -> Bool {
        ownAttachments.withLock { state in
            // In the word's order: before `finished`, which then sees the bit and waits for this lock, or not at all.
            let isEarly = word.update { lifecycle in
                guard lifecycle.phase != .finished else { return nil }
                var next = lifecycle
                next.insert(.hasWaiters)
                return next
            }
            guard isEarly != nil else { return false }
            state.waiters.append(waiter)
            return true
        }
    }
}

extension ThreadContext.Frame {
    fileprivate var isPartOfTask: Bool { operation._withUnsafeGuaranteedRef { $0 is TaskJob } }
}

extension OperationQueue {
    /// Misuse M8: this thread holds the only slot of the queue that the operation is or will be in.
    func checkWait(for operation: Operation) throws(OperationError) {
        guard let frame = ThreadContext.current.innermost,
            frame.queue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
        else { return }
        let phase = frame.operation.takeUnretainedValue().word.lifecycle.phase
        guard phase.rawValue < Lifecycle.Phase.finishing.rawValue, maxConcurrentOperationCount == 1 else { return }
        throw .waitsInsideSerialQueue(operation: operation.label, queue: label)
    }

    /// Misuse M8 for a task; see `Operation.checkSuspension`.
    @usableFromInline
    func checkSuspension(for operation: Operation) throws(OperationError) {
        if ThreadContext.current.innermost?.isPartOfTask != true { try checkWait(for: operation) }
    }

    /// The same for all.
    func checkSuspensionForAll() throws(OperationError) {
        if ThreadContext.current.innermost?.isPartOfTask != true { try checkWaitForAll() }
    }

    func checkWaitForAll() throws(OperationError) {
        let own = Unmanaged.passUnretained(self).toOpaque()
        for frame in ThreadContext.current.allFrames where frame.queue?.toOpaque() == own {
            let operation = frame.operation.takeUnretainedValue()
            guard operation.word.lifecycle.phase.rawValue >= Lifecycle.Phase.finishing.rawValue else {
                throw .waitsForItself(operation: operation.label)
            }
        }
    }

    func waitForAll() throws(OperationError) {
        try checkWaitForAll()
        let parker = ThreadContext.current.parker
        guard enlist(.thread(parker)) else { return }
        Worker.blocking { parker.park() }
    }

    func suspendUntilIdle() async {
        await withUnsafeContinuation { continuation in
            if !enlist(.task(continuation)) { continuation.resume() }
        }
    }

    /// Promises the waiter a wake when nothing is left; false when nothing is.
    private func enlist(_ waiter: Waiter) -> Bool {
        withState { state in
            guard !state.schedule.isEmpty else { return false }
            state.idleWaiters.append(waiter)
            return true
        }
    }
}
