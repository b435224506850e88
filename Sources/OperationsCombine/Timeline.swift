#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Operations

/// A source of dates that is based on a steady clock, and that computes the deadline of a date on that clock.
///
/// Between two corrections, the conversion from date to deadline keeps the order: an earlier date never has a later deadline.
/// Reading two clocks for each action would not keep the order. A serial queue would then swap values that are sent within one
/// microsecond.
final class Timeline: Sendable {
    /// The time since the timeline was made.
    private let elapsed: @Sendable () -> Duration
    /// Suspends until this many nanoseconds have passed since the timeline was made.
    let sleep: @Sendable (UInt64) async throws -> Void
    /// The system's date; nil if the timeline does not follow it.
    private let systemDate: (@Sendable () -> Date)?
    /// The date at which `elapsed` was zero, in seconds since the reference date.
    private let origin: Locked<TimeInterval>

    /// If reading both clocks takes longer than this, the readings cannot be compared.
    private static let longestLook = Duration.microseconds(100)
    /// The largest deviation of the date in seconds. A larger deviation is corrected.
    private static let tolerance = 0.001
    /// One hundred years in nanoseconds, which every clock can sleep.
    private static let furthest = 100 * 365.25 * 86_400 * 1e9

    /// Creates a timeline.
    ///
    /// - Parameters:
    ///   - clock: The steady clock.
    ///   - systemDate: Returns the system's date. If nil, the date starts with the reference date and is never corrected.
    init(of clock: some Clock<Duration>, following systemDate: (@Sendable () -> Date)? = nil) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleepFully(until: start.advanced(by: .nanoseconds(Int64($0)))) }
        self.systemDate = systemDate
        origin = Locked(systemDate?().timeIntervalSinceReferenceDate ?? 0)
    }

    /// The time since the timeline was made, in nanoseconds.
    var position: UInt64 { elapsed().wholeNanoseconds }

    /// The present date, in seconds since the reference date.
    var now: TimeInterval {
        let first = elapsed()
        guard let date = systemDate?().timeIntervalSinceReferenceDate else {
            return origin.withLock { $0 } + first / .seconds(1)
        }
        let second = elapsed()
        let measured = second - first < Self.longestLook ? date - second / .seconds(1) : nil
        return origin.withLock { origin in
            if let measured, abs(measured - origin) > Self.tolerance { origin = measured }
            return origin + second / .seconds(1)
        }
    }

    /// Returns the position of a date; 0 for a date before the start of the timeline, and for a value that is not a number.
    func deadline(of date: TimeInterval) -> UInt64 {
        let nanoseconds = (date - origin.withLock { $0 }) * 1e9
        return nanoseconds > 0 ? UInt64(min(nanoseconds, Self.furthest).rounded()) : 0
    }
}
