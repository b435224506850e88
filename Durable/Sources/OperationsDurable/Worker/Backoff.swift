/// The delays between attempts to reach a database that is away: 20 ms at first, and 1 s at most.
struct Backoff {
    private var delay = Duration.milliseconds(20)

    mutating func next() -> Duration {
        defer { delay = min(delay * 2, .seconds(1)) }
        return delay
    }

    mutating func reset() { delay = .milliseconds(20) }
}
