// Waiting for an operation, or for all operations of a queue, by a thread or a task.

import SchedulerCore

extension Operation {
    /// Checks misuse M8 for a thread. Uses the phase of the word: waiting for an operation that has left its queue is
    /// never misuse.
    final func checkWait() throws(OperationError) {
        let lifecycle = word.lifecycle
        guard lifecycle.phase != .finished else { return }
        try ThreadContext.current.checkCallers { frame throws(OperationError) in try checkWait(in: frame) }
        // Only the main thread starts or resumes the operation. A classic asynchronous operation that executes may end elsewhere.
        let needsThread = lifecycle.phase == .enqueued || lifecycle.phase == .executing && self is AsyncOperation
        if needsThread, queueOfMember?.usesMainThread == true, MainThread.isCurrent {
            throw .waitsForMainQueue(operation: label)
        }
    }

    /// Checks misuse M8 for code that runs as part of an operation.
    private final func checkWait(in frame: ThreadContext.Frame) throws(OperationError) {
        let isItself = frame.operation.toOpaque() == Unmanaged.passUnretained(self).toOpaque()
        if isItself { throw .waitsForItself(operation: label) }
        guard let queue = frame.queue else { return }
        guard word.lifecycle.phase == .enqueued, self.queue?.toOpaque() == queue.toOpaque() else { return }
        try queue.takeUnretainedValue().checkWait(for: self, in: frame)
    }

    /// Waits. The implementation of the default `waitUntilFinished()`. Returns whether the operation is finished, or the limit in
    /// nanoseconds was reached first.
    @discardableResult
    final func waitForFinish(atMost limit: UInt64? = nil) throws(OperationError) -> Bool {
        // The operation may have ended in an override of `start()` that continues.
        ThreadContext.current.worker?.fulfillDeparture()
        guard !hasLeft else { return true }
        Fork.check()
        try checkWait()
        if Processor.spin(until: { hasLeft }) { return true }
        let parker = Parker()
        guard enlist(.thread(parker)) else { return true }
        var isFinished = true
        lending(isLimited: limit != nil) { isFinished = Worker.block(on: parker, atMost: limit) }
        guard !isFinished else { return true }
        // If another thread has taken the waiter from the list, the operation is finished, and the thread uses the parker.
        guard attachments?.withLock({ $0.waiters.remove(parker) }) != true else { return false }
        Worker.block(on: parker)
        return true
    }

    /// Checks misuse M8 for a task.
    final func checkSuspension() throws(OperationError) {
        guard word.lifecycle.phase != .finished else { return }
        try ThreadContext.checkCurrentTask { frame throws(OperationError) in try checkWait(in: frame) }
    }

    /// The effect of a cancellation of a waiting task.
    enum CancellationOfWait {
        /// It ends the wait, unless the work has started (rule A15).
        case endsWait
        /// It ends the wait in any case.
        case alwaysEndsWait
        /// It cancels the operation, too. The caller has a handler, which calls `cancel()` and `abandon(_:)`.
        case cancelsOperation(TaskWait)
        case hasNoEffect
    }

    /// Suspends a task until the operation is finished.
    ///
    /// - Parameters:
    ///   - inAnyQueue: Whether the operation is raised to the task's priority also if its queue does not inherit priorities.
    ///   - cancellation: The effect of a cancellation of the task.
    /// - Returns: Whether the operation is finished. Otherwise the task was cancelled.
    @discardableResult
    final func waitUntilFinished(
        inAnyQueue: Bool, _ cancellation: CancellationOfWait = .endsWait
    ) async throws(OperationError) -> Bool {
        try checkSuspension()
        guard !hasLeft else { return true }
        await lending(inAnyQueue: inAnyQueue) {
            switch cancellation {
            case .endsWait, .alwaysEndsWait:
                let wait = TaskWait()
                let mayHaveBegun = if case .alwaysEndsWait = cancellation { true } else { false }
                await withTaskCancellationHandler {
                    await suspendUntilFinished(wait) { abandon(wait, mayHaveBegun: mayHaveBegun) }
                } onCancel: {
                    abandon(wait, mayHaveBegun: mayHaveBegun)
                }
            case .cancelsOperation(let wait):
                await suspendUntilFinished(wait) {
                    // The handler may not have run yet, and does not run any more when the wait has ended.
                    cancel()
                    abandon(wait)
                }
            case .hasNoEffect: await suspendUntilFinished(TaskWait()) {}
            }
        }
        return hasLeft
    }

    /// - Parameter endEarly: Called if the task was cancelled before the wait could be abandoned.
    private final func suspendUntilFinished(_ wait: TaskWait, orIfCancelled endEarly: () -> Void) async {
        guard !hasLeft else { return }
        await withUnsafeContinuation { continuation in
            if !enlist(.task(wait), as: { wait.continuation = continuation }) { return continuation.resume() }
            // A cancellation before this thread had enlisted the wait has abandoned nothing.
            if Task.isCancelled { endEarly() }
        }
    }

    /// Ends the wait of a cancelled task, unless the work has started. The operation stays in its queue.
    @usableFromInline
    final func abandon(_ wait: TaskWait) { abandon(wait, mayHaveBegun: false) }

    private final func abandon(_ wait: TaskWait, mayHaveBegun: Bool) {
        // User code, so not under the lock.
        if !mayHaveBegun, word.lifecycle.phase == .idle, untracked({ isExecuting }) { return }
        let continuation: UnsafeContinuation<Void, Never>? = attachments?.withLock { state in
            word.lifecycle.hasBegunWork && !mayHaveBegun ? nil : state.waiters.withdraw(wait)
        }
        continuation?.resume()
    }

    /// Whether the operation leaves its queue without waiting for its own code: it has announced its end inside `start()`, for
    /// example, and `start()` continues. A plain block leaves after its code and its observers have returned.
    final var leavesBesideItsCode: Bool {
        let lifecycle = word.lifecycle
        return lifecycle.phase == .finished || lifecycle.hasClaimedEnd && !isPlainBlock
    }

    private final var hasLeft: Bool { word.lifecycle.phase == .finished }

    /// Registers a waiter, which is then resumed at the end. False: the operation has finished.
    ///
    /// - Parameter begin: Called under the lock if the waiter is registered.
    private final func enlist(_ waiter: Waiter, as begin: () -> Void = {}) -> Bool {
        followPaths()
        return ownAttachments.withLock { state in
            // By the order of the word: either before `finished`, which then sees the bit and waits for this lock, or not
            // at all.
            let old = word.update { $0.phase == .finished ? nil : $0.inserting(.hasWaiters) }
            guard old != nil else { return false }
            begin()
            state.waiters.add(waiter)
            return true
        }
    }
}

extension Lifecycle {
    /// Whether the work has started, or starts in any case, unless it is cancelled at this moment. An operation whose gates are being
    /// checked may still go back to its queue.
    fileprivate var hasBegunWork: Bool {
        switch phase {
        case .idle, .entering: false
        case .enqueued: contains(.hasBegun)
        case .starting: !contains(.admitting)
        case .executing, .ended, .finishing, .finished: true
        }
    }
}

extension ThreadContext.Frame {
    /// Whether the current task is part of the operation. A thread that drains an actor for the operation may run jobs of
    /// other tasks, and continue with these tasks for a while. An operation that continues on an actor with threads of its own has
    /// no frame there, so `ofCurrentTask` looks at the task.
    var includesCurrentTask: Bool {
        guard let executor = operation._withUnsafeGuaranteedRef({ $0.executorOfTask }) else { return true }
        return withUnsafeCurrentTask { $0?.unownedTaskExecutor } == executor
    }
}

extension ThreadContext {
    /// The async operation that the current task is part of, and its queue. The executor of a task identifies it on any thread.
    ///
    /// References: the user may have created the task on the executor of the operation, and so the operation may end now.
    static var ofCurrentTask: (operation: Operation, queue: OperationQueue?)? {
        guard let executor = withUnsafeCurrentTask(body: { $0?.unownedTaskExecutor }) else { return nil }
        guard #available(macOS 26.4, iOS 26.4, tvOS 26.4, watchOS 26.4, visionOS 26.4, *) else {
            // The runtime does not return the executor as an object there.
            guard let frame = current.innermost else { return nil }
            guard let operation = frame.operation.takeUnretainedValue() as? AsyncOperation else { return nil }
            return (operation, frame.queue?.takeUnretainedValue())
        }
        guard let task = executor.asTaskExecutor() as? OperationTask, let operation = task.heldOperation else {
            return nil
        }
        return (operation, task.queue)
    }

    /// The operation of the calling code, also for a task of an async operation on a thread of another executor.
    var caller: Operation? { innermost?.operation.takeUnretainedValue() ?? Self.ofCurrentTask?.operation }

    /// Calls `check` with each operation and queue that the calling code is part of, in no particular order.
    func checkCallers(_ check: (Frame) throws(OperationError) -> Void) throws(OperationError) {
        guard innermost != nil else { return try Self.checkCurrentTask(check) }
        for frame in frames { try frame.checkOutward(check) }
        try workerFrame?.checkOutward(check)
    }

    /// Calls `check` with each operation and queue that the current task is part of, the innermost first.
    static func checkCurrentTask(_ check: (Frame) throws(OperationError) -> Void) throws(OperationError) {
        guard let (operation, queue) = ofCurrentTask else { return }
        defer { withExtendedLifetime((operation, queue)) {} }
        try Frame(operation: .passUnretained(operation), queue: queue.map(Unmanaged.passUnretained)).checkOutward(check)
    }
}

extension OperationQueue {
    /// Checks misuse M8: the caller is an operation of this serial queue, and the awaited operation is or will be in the
    /// same queue.
    fileprivate func checkWait(for operation: Operation, in frame: ThreadContext.Frame) throws(OperationError) {
        guard frame.queue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque() else { return }
        let leaves = frame.operation._withUnsafeGuaranteedRef { $0.leavesBesideItsCode }
        guard !leaves, maxConcurrentOperationCount == 1 else { return }
        throw .waitsInsideSerialQueue(operation: operation.label, queue: label)
    }

    /// Checks misuse M8 for a thread that is about to add the operation and wait for it.
    func checkWait(for operation: Operation) throws(OperationError) {
        try ThreadContext.current.checkCallers { frame throws(OperationError) in
            try checkWait(for: operation, in: frame)
        }
        if usesMainThread, MainThread.isCurrent { throw .waitsForMainQueue(operation: operation.label) }
    }

    /// Checks misuse M8 for a task that is about to add the operation and wait for it.
    @usableFromInline
    func checkSuspension(for operation: Operation) throws(OperationError) {
        try ThreadContext.checkCurrentTask { frame throws(OperationError) in try checkWait(for: operation, in: frame) }
    }

    /// Checks misuse M8 for a task.
    func checkSuspensionForAll() throws(OperationError) {
        try ThreadContext.checkCurrentTask { frame throws(OperationError) in try checkWaitForAll(in: frame) }
    }

    func checkWaitForAll() throws(OperationError) {
        try ThreadContext.current.checkCallers { frame throws(OperationError) in try checkWaitForAll(in: frame) }
        guard usesMainThread, MainThread.isCurrent else { return }
        // A classic asynchronous operation that executes may end elsewhere.
        let needsThread = withState { state in
            let running = state.runningOperations
            return running.count < state.machine.schedule.count || running.contains { $0 is AsyncOperation }
        }
        if needsThread { throw .waitsForMainQueue(operation: "all operations") }
    }

    private func checkWaitForAll(in frame: ThreadContext.Frame) throws(OperationError) {
        guard frame.queue?.toOpaque() == Unmanaged.passUnretained(self).toOpaque() else { return }
        let operation = frame.operation.takeUnretainedValue()
        guard operation.leavesBesideItsCode else { throw .waitsForItself(operation: operation.label) }
    }

    /// Waits. Returns whether the queue is empty, or the limit in nanoseconds was reached first.
    @discardableResult
    func waitForAll(atMost limit: UInt64? = nil) throws(OperationError) -> Bool {
        ThreadContext.current.worker?.fulfillDeparture()
        Fork.check()
        try checkWaitForAll()
        let parker = Parker()
        guard enlist(.thread(parker)) else { return true }
        var isEmpty = true
        ThreadContext.current.noteWait(for: .queue(self), isLimited: limit != nil) {
            isEmpty = Worker.block(on: parker, atMost: limit)
        }
        guard !isEmpty else { return true }
        // If another thread has taken the waiter from the list, the queue was empty, and the thread uses the parker.
        guard !withState({ $0.idleWaiters.remove(parker) }) else { return false }
        Worker.block(on: parker)
        return true
    }

    /// Suspends the task until the queue is empty, or the task is cancelled.
    func suspendUntilIdle() async {
        let wait = TaskWait()
        await ThreadContext.noteSuspension(for: .queue(self)) {
            await withTaskCancellationHandler {
                await withUnsafeContinuation { continuation in
                    if !enlist(.task(wait), as: { wait.continuation = continuation }) { return continuation.resume() }
                    // A cancellation before this thread had enlisted the wait has abandoned nothing.
                    if Task.isCancelled { abandon(wait) }
                }
            } onCancel: {
                abandon(wait)
            }
        }
    }

    private func abandon(_ wait: TaskWait) {
        withState { $0.idleWaiters.withdraw(wait) }?.resume()
    }

    /// Registers a waiter, which is resumed when the queue is empty. False: the queue is empty.
    ///
    /// - Parameter begin: Called under the lock if the waiter is registered.
    private func enlist(_ waiter: Waiter, as begin: () -> Void = {}) -> Bool {
        withState { state in
            guard !state.machine.schedule.isEmpty else { return false }
            begin()
            state.idleWaiters.add(waiter)
            return true
        }
    }
}
