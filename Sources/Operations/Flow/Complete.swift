// Step 5 of 5: complete. Before: finish. After: nothing; the operation keeps its results, name and dependencies.

import SchedulerCore

extension Operation {
    /// Marks the operation as finished. From here on waiters return and no completion block is added. Returns the old
    /// word.
    @inline(__always)
    final func markFinished() -> Lifecycle { word.update { $0.finished() }.unsafelyUnwrapped }

    /// Resumes the waiters, then runs the completion block. The operation has left its queue, and this thread has claimed no
    /// other one, so the block delays no other operation.
    ///
    /// - Parameters:
    ///   - lifecycle: The word from before the operation was marked as finished.
    ///   - pool: A pool whose thread runs the completion block; nil for this thread.
    @inline(__always)
    final func complete(_ lifecycle: Lifecycle, on pool: WorkerPool? = nil) {
        if lifecycle.contains(.hasWaiters) { wakeWaiters() }
        guard lifecycle.contains(.hasCompletionBlock) else { return }
        guard let pool else { return runCompletionBlock() }
        pool.request(PoolJob(urgency: .eager, threadName: "completion block") { self.runCompletionBlock() })
    }

    private final func wakeWaiters() {
        let waiters = attachments?.withLock { $0.waiters.takeAll() }
        for waiter in waiters ?? [] { waiter.wake() }
    }

    /// Whether waiters may be tasks. The operation is finished, so no waiter joins.
    @inline(__always)
    final func mayResumeTasks(_ lifecycle: Lifecycle) -> Bool { lifecycle.contains(.hasWaiters) && hasWaitingTasks }

    private final var hasWaitingTasks: Bool { attachments?.withLock { $0.waiters.contains { $0.isTask } } == true }

    private final func runCompletionBlock() {
        var taken: (@Sendable () -> Void)?
        exchange([.completionBlock]) { state -> CompletionBlocks? in
            taken = state.completionBlock.take()
            return taken.map { ($0, nil) }
        }
        guard let block = taken.take() else { return }
        // This thread may be the worker of another operation, for which the block may wait.
        ThreadContext.current.worker?.fulfillObligation()
        HeldLocks.assertNone()
        block()
    }

    private typealias CompletionBlocks = (old: (@Sendable () -> Void)?, new: (@Sendable () -> Void)?)

    final func setCompletionBlock(_ block: (@Sendable () -> Void)?) {
        guard block != nil || attachments != nil else { return }
        exchange([.completionBlock]) { state -> CompletionBlocks? in
            defer { state.completionBlock = block }
            return (state.completionBlock, block)
        }
        // By the order of the word, the bit is set before `finished` or never: the finisher reads the block only if it
        // sees the bit.
        if block != nil { word.update { $0.phase == .finished ? nil : $0.inserting(.hasCompletionBlock) } }
    }
}
