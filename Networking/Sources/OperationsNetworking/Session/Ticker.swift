import Operations

/// A type-erased clock for time limits, rates and metrics.
package struct Ticker: Sendable {
    /// The time since an arbitrary moment.
    package let now: @Sendable () -> Duration
    /// Sleeps until `now` returns at least this time. An absolute time is safe if the clock moves between `now` and this call.
    let sleepUntil: @Sendable (Duration) async throws -> Void

    /// The value of `now` in nanoseconds.
    var nanoseconds: UInt64 { now().wholeNanoseconds }

    package init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        if let start = start as? ContinuousClock.Instant, clock is ContinuousClock {
            // The sleep does not wait for a thread of the concurrency runtime.
            sleepUntil = { try await OperationClock().sleep(until: start.advanced(by: $0)) }
        } else {
            sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
        }
    }
}

extension OperationQueue {
    /// The queue of the tasks that sleep. Its threads are free while tasks compute on all threads of the concurrency runtime.
    static let ofTimers: OperationQueue = {
        let queue = OperationQueue()
        (queue.name, queue.maxConcurrentOperationCount) = ("network timers", 4)
        return queue
    }()
}

extension Duration {
    /// The duration in nanoseconds, limited to the values that the result can represent.
    var wholeNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        // Compared first: `components` stops the process for a duration of more seconds than it can represent.
        guard self < .nanoseconds(UInt64.max) else { return .max }
        let (seconds, attoseconds) = components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
