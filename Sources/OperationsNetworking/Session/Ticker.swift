#if Networking
import Operations

/// A clock whose kind of instant is forgotten: what time-outs, rates and metrics are measured by.
package struct Ticker: Sendable {
    /// Since some moment.
    package let now: @Sendable () -> Duration
    /// Until `now` says so: a clock that is moved between asking it and sleeping delays nobody.
    let sleepUntil: @Sendable (Duration) async throws -> Void

    /// What `now` says, in nanoseconds.
    var nanoseconds: UInt64 { now().wholeNanoseconds }

    package init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}
#endif
