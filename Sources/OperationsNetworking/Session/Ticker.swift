#if Networking
import Operations

/// A clock whose kind of instant is forgotten: what time-outs, rates and metrics are measured by.
struct Ticker: Sendable {
    /// Since some moment.
    let now: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void
    /// Until `now` says so: a clock that is moved between asking it and sleeping delays nobody.
    let sleepUntil: @Sendable (Duration) async throws -> Void

    /// What `now` says, in nanoseconds.
    var nanoseconds: UInt64 { UInt64(clamping: now().wholeNanoseconds) }

    init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
        sleepUntil = { try await clock.sleep(until: start.advanced(by: $0), tolerance: nil) }
    }
}
#endif
