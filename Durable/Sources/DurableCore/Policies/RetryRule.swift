/// A stored rule for retries: the number of retries, and the delays before them.
public struct RetryRule: Sendable, Hashable {
    /// The growth of the delays.
    public enum Growth: Sendable, Hashable {
        /// The same delay before each retry.
        case constant
        /// One step more before each retry.
        case linear
        /// A delay that grows by a factor in percent: 200 doubles the delay.
        case exponential(percent: Int64)
    }

    /// The largest number of retries.
    public var retries: Int
    /// The growth of the delays.
    public var growth: Growth
    /// The first delay, in microseconds.
    public var first: Int64
    /// The largest delay, in microseconds.
    public var cap: Int64
    /// The random part of a delay, in percent of the delay. The random part shortens the delay.
    public var jitter: Int64

    /// The rule of an operation that is not retried.
    public static let none = RetryRule(retries: 0, growth: .constant, first: 0, cap: 0, jitter: 0)

    /// Returns a rule with a delay that doubles before each retry, with full jitter.
    public static func exponential(
        retries: Int, first: Duration = .milliseconds(100), cap: Duration = .seconds(60), jitter: Int64 = 100
    ) -> RetryRule {
        RetryRule(
            retries: retries, growth: .exponential(percent: 200), first: first.microseconds, cap: cap.microseconds,
            jitter: jitter)
    }

    /// Returns a rule with one delay before all retries.
    public static func constant(_ delay: Duration, retries: Int, jitter: Int64 = 0) -> RetryRule {
        RetryRule(
            retries: retries, growth: .constant, first: delay.microseconds, cap: delay.microseconds, jitter: jitter)
    }

    /// Returns a rule with a delay of one step, then two steps, up to the cap.
    public static func linear(
        _ step: Duration, retries: Int, cap: Duration = .seconds(60), jitter: Int64 = 0
    ) -> RetryRule {
        RetryRule(
            retries: retries, growth: .linear, first: step.microseconds, cap: cap.microseconds, jitter: jitter)
    }

    package func check() throws(DurableError) {
        guard retries >= 0, first >= 0, cap >= 0, (0...100).contains(jitter) else {
            throw .invalidValue("a retry rule has a negative number, or a jitter outside 0…100")
        }
        if case .exponential(let percent) = growth, percent < 100 {
            throw .invalidValue("the factor of a retry rule is below 1")
        }
    }

    /// Returns the delay before a retry, in microseconds. The first retry has the number 1.
    ///
    /// The random part depends only on the seed and the number, so that all replicas of a decision agree.
    package func delay(beforeRetry retry: Int, seed: Int64) -> Int64 {
        let full = fullDelay(beforeRetry: retry)
        guard jitter > 0, full > 0 else { return full }
        let random = Self.mixed(UInt64(bitPattern: seed) &* 0x9E37_79B9_7F4A_7C15 &+ UInt64(retry)) % 10_001
        let removed = full.multipliedFullWidth(by: jitter * Int64(random))
        return full - Int64(1_000_000).dividingFullWidth(removed).quotient
    }

    private func fullDelay(beforeRetry retry: Int) -> Int64 {
        switch growth {
        case .constant: return min(first, cap)
        case .linear:
            let (delay, overflow) = first.multipliedReportingOverflow(by: Int64(retry))
            return overflow ? cap : min(delay, cap)
        case .exponential(let percent):
            var (delay, growths) = (first, retry - 1)
            while growths > 0, delay < cap, delay > 0, percent > 100 {
                let (grown, overflow) = delay.multipliedReportingOverflow(by: percent)
                delay = overflow ? cap : grown / 100
                growths -= 1
            }
            return min(delay, cap)
        }
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value &+ 0x9E37_79B9_7F4A_7C15
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

extension RetryRule {
    /// The stored form: numbers separated by commas. Nil for a rule without retries.
    @usableFromInline package var text: String? {
        if self == .none { return nil }
        let kind =
            switch growth {
            case .constant: "0"
            case .linear: "1"
            case .exponential(let percent): "\(percent)"
            }
        return "\(retries),\(kind),\(first),\(cap),\(jitter)"
    }

    /// Creates a rule from its stored form. An unknown form is a rule without retries.
    package init(text: String?) {
        let numbers = text?.split(separator: ",").compactMap { Int64($0) } ?? []
        guard numbers.count == 5 else {
            self = .none
            return
        }
        let growth: Growth =
            switch numbers[1] {
            case 0: .constant
            case 1: .linear
            default: .exponential(percent: numbers[1])
            }
        self.init(
            retries: Int(numbers[0]), growth: growth, first: numbers[2], cap: numbers[3], jitter: numbers[4])
    }
}
