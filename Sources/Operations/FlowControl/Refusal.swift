import SchedulerCore
import Synchronization

// A full queue is load, and a queue that was shut down is the end of a program. Neither is misuse, so a call that cannot throw ends
// the operation in place of the process (rule M12).
extension OperationQueue {
    /// Ends operations that could not be added. If the reason is misuse, stops the process.
    @inline(never)
    func refuse(_ operations: [Operation], _ error: OperationError) {
        guard error.isRefusal else { error.stop() }
        if ownHooks.refusals.add(operations.count, ordering: .relaxed).oldValue == 0 { Log.warning(error.description) }
        for operation in operations { operation.endRefused(by: self, error) }
    }

    /// Ends an operation that was added after the deadline, or while the queue was shut down. Called when the queue lists the
    /// operation: either this thread sees the end, or the end finds the operation.
    @inline(never)
    final func endIfTooLate(_ operation: Operation) {
        guard let hooks = hooks.load(), !operation.word.lifecycle.contains(.unlisted) else { return }
        if hooks.deadline.withLock({ $0 })?.isOver == true {
            operation.giveUp(OperationTimeout.deadline)
        } else if isShutDown {
            operation.giveUp(OperationError.queueShutDown(queue: label))
        }
    }

    /// The number of operations that the queue has refused, because it was full or shut down. The log has a line for the first one.
    public final var refusedCount: Int { hooks.load()?.refusals.load(ordering: .relaxed) ?? 0 }
}

extension OperationError {
    /// Whether a queue refuses an operation that is used correctly.
    var isRefusal: Bool {
        switch self {
        case .queueFull, .queueShutDown: true
        default: false
        }
    }
}

extension Operation {
    /// Ends an operation that is in no queue: it fails, and its work never runs. A subclass with a `start()` of its own ends
    /// there, as after each cancellation before the start.
    final func endRefused(by queue: OperationQueue, _ error: any Error) {
        giveUp(error)
        // An override of `cancel()` may not call super. The default `start()` would run the work then.
        requestCancellation()
        keepFailureHandler(of: queue)
        // The operation may have been added elsewhere, or started, by another thread meanwhile.
        try? tryStart()
    }
}
