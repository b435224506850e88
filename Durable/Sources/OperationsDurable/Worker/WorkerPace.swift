/// The measured times of attempts and exchanges, which decide how many operations a worker claims ahead.
///
/// A worker claims more operations than it has slots while its attempts are short, so that attempts start during an exchange
/// with the store. The number is that of the attempts that can end during one exchange. A worker with long attempts therefore
/// claims nothing ahead.
struct WorkerPace: Sendable {
    /// The time for which a claim waits for a slot before the worker returns the claim.
    static let patience = Duration.milliseconds(50)
    /// A time above all others.
    static let idle = Duration.seconds(86_400)
    /// The largest number of claims ahead of a queue is its limit, but between these numbers.
    private static let most = 64...1_024

    /// The time of the last exchange.
    var exchange = Duration.zero
    /// The mean time of the last attempts of each queue.
    private var attempts: [String: Duration] = [:]

    /// Notes the time of an attempt that ended.
    mutating func note(_ time: Duration, of queue: String) {
        // A long attempt counts at once, and a short attempt after some others.
        let mean = attempts[queue].map { $0 + (time - $0) / 8 } ?? time
        attempts[queue] = max(mean, time / 8)
    }

    /// Discards the times of a queue. The worker claims nothing ahead until the next attempt ends.
    mutating func forget(_ queue: String) { attempts[queue] = nil }

    /// A claim whose attempt has not started.
    struct Waiting {
        /// The place among all claims of the worker.
        let ordinal: Int
        /// The time since the worker received the claim.
        let age: Duration
    }

    /// Returns the claims of one queue that the worker returns now, by their ordinals, and the time until the next decision.
    ///
    /// A queue returns all its claims that have not started, or none. An attempt may start meanwhile, so the last claim is the
    /// first to return. Otherwise an operation could start before an operation that precedes it (rule R16).
    static func late(_ waiting: [Waiting]) -> (ordinals: [Int], rest: Duration) {
        let rest = patience - (waiting.map(\.age).max() ?? .zero)
        if waiting.isEmpty || rest > .zero { return ([], waiting.isEmpty ? idle : rest) }
        return (waiting.map(\.ordinal).sorted(by: >), idle)
    }

    /// Returns the number of operations to claim beyond the limit.
    func claimsAhead(of queue: String, limit: Int) -> Int {
        guard let time = attempts[queue], exchange > .zero else { return 0 }
        let most = min(max(Self.most.lowerBound, limit), Self.most.upperBound)
        return Int(min(Double(limit) * (exchange / max(time, .nanoseconds(1))), Double(most)))
    }
}
