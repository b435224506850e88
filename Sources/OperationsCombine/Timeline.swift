#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Operations

/// Tells the date by a clock that is never set, and when a date comes on that clock.
///
/// Between two settings of the system's clock the way from date to deadline keeps order: an earlier date has no later
/// deadline. Two looks at two clocks for each action would not do that, and a serial queue would mix up values that are
/// sent within a microsecond.
final class Timeline: Sendable {
    /// The way the clock has gone since the timeline was made.
    private let elapsed: @Sendable () -> Duration
    /// Suspends until it has gone so many nanoseconds.
    let sleep: @Sendable (UInt64) async throws -> Void
    /// What tells the date, if it is to be followed.
    private let systemDate: (@Sendable () -> Date)?
    /// The date at which `elapsed` was zero, in seconds since the reference date.
    private let origin: Locked<TimeInterval>

    /// A look at two clocks that takes longer than this tells nothing about either.
    private static let longestLook = Duration.microseconds(100)
    /// The date may be off by so many seconds before it is set anew.
    private static let tolerance = 0.001
    /// In nanoseconds: a hundred years, which every clock can sleep.
    private static let furthest = 100 * 365.25 * 86_400 * 1e9

    /// - Parameter systemDate: Tells the date. When nil, the date begins with the reference date, and nobody sets it.
    init(of clock: some Clock<Duration>, following systemDate: (@Sendable () -> Date)? = nil) {
        let start = clock.now
        elapsed = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(until: start.advanced(by: .nanoseconds(Int64($0))), tolerance: nil) }
        self.systemDate = systemDate
        origin = Locked(systemDate?().timeIntervalSinceReferenceDate ?? 0)
    }

    /// How far the clock has gone, in nanoseconds.
    var position: UInt64 { elapsed().wholeNanoseconds }

    /// The date, in seconds since the reference date.
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

    /// The position at which a date comes; 0 for dates before the beginning, and for what is no number.
    func deadline(of date: TimeInterval) -> UInt64 {
        let nanoseconds = (date - origin.withLock { $0 }) * 1e9
        return nanoseconds > 0 ? UInt64(min(nanoseconds, Self.furthest).rounded()) : 0
    }
}
