import Operations

/// A flag that one task waits for. The flag stays set until the task has seen it, so that no notice is lost.
package final class Wakeup: Sendable {
    private struct State {
        var isSet = false
        var continuation: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    package init() {}

    /// Sets the flag, and resumes the waiting task.
    package func set() {
        let continuation = state.withLock { state in
            state.isSet = true
            return state.continuation.take()
        }
        continuation?.resume()
    }

    /// Suspends until the flag is set or the task is cancelled. Clears the flag.
    ///
    /// One task waits at a time.
    package func wait() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isSet = state.withLock { state in
                    if !state.isSet { state.continuation = continuation }
                    return state.isSet
                }
                if isSet { continuation.resume() }
            }
        } onCancel: {
            self.set()
        }
        state.withLock { $0.isSet = false }
    }

    /// Suspends until the flag is set, the time has passed or the task is cancelled. Clears the flag.
    package func wait(atMost time: Duration) async {
        let alarm = Task(executorPreference: OperationQueue.ofWorkers) {
            try await OperationClock().sleep(for: time)
            self.set()
        }
        await wait()
        alarm.cancel()
    }
}

extension OperationQueue {
    /// The queue of the tasks of all workers of the process.
    ///
    /// The concurrency runtime has one thread for each processor. Tasks that compute there would delay heartbeats until the
    /// leases have expired, and other workers would run the operations again. The limit is explicit, because a queue with the
    /// default limit waits while operations compute.
    static let ofWorkers: OperationQueue = {
        let queue = OperationQueue()
        (queue.name, queue.maxConcurrentOperationCount) = ("durable workers", 8)
        return queue
    }()
}
