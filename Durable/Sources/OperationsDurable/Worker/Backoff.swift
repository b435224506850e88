/// The delays between attempts to reach a database that is away: 20 ms at first, and 1 s at most.
struct Backoff {
    private static let first = Duration.milliseconds(20)

    private var delay = first

    /// Whether the last attempt failed.
    var isWaiting: Bool { delay > Self.first }

    mutating func next() -> Duration {
        defer { delay = min(delay * 2, .seconds(1)) }
        return delay
    }

    mutating func reset() { delay = Self.first }
}
