#if Networking
/// A clock whose kind of instant is forgotten: what time-outs, rates and metrics are measured by.
struct Ticker: Sendable {
    /// Since some moment.
    let now: @Sendable () -> Duration
    let sleep: @Sendable (Duration) async throws -> Void

    init<C: Clock<Duration>>(_ clock: C) {
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }
}
#endif
