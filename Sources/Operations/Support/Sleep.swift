/// Sleeps of any length.
///
/// A sleep on the clocks of the standard library is a timer of this library. The runtime's own sleep ends only when one of
/// the runtime's threads is free. Tasks that compute may occupy all of these threads for any time.
///
/// A clock may fail to represent a deadline that is millions of years away: the clocks of the standard library then stop
/// the process. So a long sleep is made of sleeps that every clock can represent.
extension Clock where Duration == Swift.Duration {
    /// Suspends for the duration. Throws `CancellationError` as soon as the task is cancelled.
    package func sleepFully(for duration: Duration) async throws {
        if let clock = timerClock {
            return try await Sleeper.sleep(clock, until: clock.deadline(after: duration.roundedUp))
        }
        var rest = duration
        while rest > .longestSleep {
            try await sleep(for: .longestSleep)
            rest -= .longestSleep
        }
        try await sleep(for: rest)
    }

    /// Suspends until the duration has passed since an instant that is not in the future. Throws `CancellationError` as
    /// soon as the task is cancelled.
    package func sleepFully(for duration: Duration, since start: Instant) async throws {
        guard duration <= .longestSleep else { return try await sleepFully(for: duration) }
        try await sleepFully(until: start.advanced(by: duration))
    }
}

extension Clock {
    /// Suspends until the deadline. Throws `CancellationError` as soon as the task is cancelled.
    package func sleepFully(until deadline: Instant) async throws {
        if let clock = timerClock {
            let time =
                (deadline as? ContinuousClock.Instant).map(TimerClock.time(of:))
                ?? (deadline as? SuspendingClock.Instant).map(TimerClock.time(of:))
            if let time { return try await Sleeper.sleep(clock, until: time) }
        }
        if let longest = Swift.Duration.longestSleep as? Duration {
            while now.duration(to: deadline) > longest {
                try await sleep(until: now.advanced(by: longest), tolerance: nil)
            }
        }
        try await sleep(until: deadline, tolerance: nil)
    }

    /// The clock of timers that this clock is, if it is one.
    private var timerClock: TimerClock? {
        if self is ContinuousClock { .continuous } else if self is SuspendingClock { .suspending } else { nil }
    }
}

/// A task that sleeps until a timer fires.
private final class Sleeper: Timer, @unchecked Sendable {
    // Sendable: a lock.
    private let state = Locked(State.awake)

    private enum State {
        case awake
        case asleep(UnsafeContinuation<Void, any Error>)
        case over
    }

    static func sleep(_ clock: TimerClock, until deadline: UInt64) async throws {
        guard deadline > clock.now else {
            await Task.yield()
            return try Task.checkCancellation()
        }
        let sleeper = Sleeper(clock, deadline: deadline)
        try await ThreadContext.noteSleep {
            try await withTaskCancellationHandler {
                try await withUnsafeThrowingContinuation { sleeper.begin($0) }
            } onCancel: {
                sleeper.cancel()
            }
        }
    }

    private func begin(_ continuation: UnsafeContinuation<Void, any Error>) {
        let isCancelled = state.withLock { state in
            guard case .awake = state else { return true }
            state = .asleep(continuation)
            return false
        }
        if isCancelled { continuation.resume(throwing: CancellationError()) } else { Monitor.shared.start(self) }
    }

    override func fire() { finish()?.resume() }

    private func cancel() {
        guard let continuation = finish() else { return }
        Monitor.shared.cancel(self)
        continuation.resume(throwing: CancellationError())
    }

    private func finish() -> UnsafeContinuation<Void, any Error>? {
        state.withLock { state in
            defer { state = .over }
            guard case .asleep(let continuation) = state else { return nil }
            return continuation
        }
    }
}

extension Duration {
    /// A hundred years, which every clock can represent.
    package static var longestSleep: Duration { .seconds(36_525 * 86_400) }

    /// The duration in nanoseconds, from 0 to the largest number.
    package var wholeNanoseconds: UInt64 {
        guard self > .zero else { return 0 }
        // Compared first: `components` stops the process for a duration of more seconds than it can represent.
        guard self < .nanoseconds(UInt64.max) else { return .max }
        let (seconds, attoseconds) = components
        return UInt64(seconds) * 1_000_000_000 + UInt64(attoseconds / 1_000_000_000)
    }
}
