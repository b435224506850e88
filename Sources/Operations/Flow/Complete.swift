// Step 5 of 5: complete. Before: finish. After: nothing; the operation keeps its results, name and dependencies.

import SchedulerCore

extension Operation {
    /// Lets waiters go, then runs the completion block. The operation has left its queue, so the block delays nobody.
    final func complete() { complete(markFinished()) }

    /// From here on waiters go, and the completion block is not taken any more. Answers the word before.
    final func markFinished() -> Lifecycle { word.update { $0.finished() }.unsafelyUnwrapped }

    final func complete(_ lifecycle: Lifecycle) {
        if lifecycle.contains(.hasWaiters) { wakeWaiters() }
        if lifecycle.contains(.hasCompletionBlock) { runCompletionBlock() }
    }

    private final func wakeWaiters() {
        let waiters = attachments?.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters ?? [] { waiter.wake() }
    }

    private final func runCompletionBlock() {
        var taken: (@Sendable () -> Void)?
        exchange([.completionBlock]) { state -> CompletionBlocks? in
            taken = state.completionBlock.take()
            return taken.map { ($0, nil) }
        }
        guard let block = taken.take() else { return }
        // The block may take its time, or wait for an operation of the queue just left: this thread's promise to look
        // for more work there is given to another one.
        ThreadContext.current.worker?.passOnDebt()
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
        // Before `finished` by the word's order, or never: the finisher looks for the block only if it sees this bit.
        if block != nil {
            word.update { lifecycle in
                guard lifecycle.phase != .finished else { return nil }
                var next = lifecycle
                next.insert(.hasCompletionBlock)
                return next
            }
        }
    }
}
