/// A continuous clock whose sleeps end on time while tasks occupy all threads of the concurrency runtime.
///
/// The sleeps of `ContinuousClock` end on a thread of the concurrency runtime, which has one thread for each processor. Tasks
/// that compute or block there delay all such sleeps of the process. The sleeps of this clock are timers of the library. Time
/// limits, rates and retries of operations use these timers too.
///
/// The task continues on its own executor, which has to have a thread. Tasks of operations, and tasks whose preferred executor is
/// a queue, continue on threads of the library.
///
/// ```swift
/// try await OperationClock().sleep(for: .seconds(30))
/// ```
///
/// After the machine has slept, a sleep on Linux may end up to a minute late.
public struct OperationClock: Clock, Sendable {
    /// Creates a clock. All clocks of this type show the same time.
    public init() {}

    /// The present instant of `ContinuousClock`.
    public var now: ContinuousClock.Instant { ContinuousClock.now }

    /// The resolution of `ContinuousClock`.
    public var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Suspends until the deadline.
    ///
    /// - Parameters:
    ///   - deadline: The instant at which the sleep ends. The task may continue later, and not earlier.
    ///   - tolerance: Not used.
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration? = nil) async throws {
        try await ContinuousClock().sleepFully(until: deadline)
    }
}
