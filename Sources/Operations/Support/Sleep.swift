/// Sleeps of any length.
///
/// A clock may fail to represent a deadline that is millions of years away: the clocks of the standard library then stop
/// the process. So a long sleep is made of sleeps that every clock can represent.
extension Clock where Duration == Swift.Duration {
    /// Suspends for the duration. Throws `CancellationError` as soon as the task is cancelled.
    package func sleepFully(for duration: Duration) async throws {
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
        try await sleep(until: start.advanced(by: duration), tolerance: nil)
    }
}

extension Clock {
    /// Suspends until the deadline. Throws `CancellationError` as soon as the task is cancelled.
    package func sleepFully(until deadline: Instant) async throws {
        if let longest = Swift.Duration.longestSleep as? Duration {
            while now.duration(to: deadline) > longest {
                try await sleep(until: now.advanced(by: longest), tolerance: nil)
            }
        }
        try await sleep(until: deadline, tolerance: nil)
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
