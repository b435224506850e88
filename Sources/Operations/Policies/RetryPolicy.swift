/// How often, and after which delays, something that fails is tried again.
///
///     let policy = try RetryPolicy(retries: 4, backoff: .exponential(.milliseconds(100), cap: .seconds(5)))
///     let photo = try await policy.run { _ in try await fetch() }
///
/// `CancellationError` is never retried, nor is anything once the task is cancelled.
public struct RetryPolicy: Sendable {
    /// The delays between one attempt and the next, before jitter.
    public enum Backoff: Sendable, Equatable {
        /// No delay.
        case none
        /// Always the same.
        case constant(Duration)
        /// Once, twice, three times the step, up to the cap.
        case linear(Duration, cap: Duration = .seconds(60))
        /// The first delay, and then each time so many times as long, up to the cap.
        case exponential(Duration, factor: Double = 2, cap: Duration = .seconds(60))
    }

    /// What chance makes of a delay, so that those that failed together do not come back together.
    public enum Jitter: Sendable, Equatable {
        /// The delay as it is.
        case none
        /// Between nothing and the delay.
        case full
        /// Between half the delay and the delay.
        case equal
    }

    /// How often it is tried again at most.
    public let retries: Int
    public let backoff: Backoff
    public let jitter: Jitter
    private let isRetryable: @Sendable (any Error) -> Bool

    /// - Parameters:
    ///   - retries: How often it is tried again at most; 0 for one attempt only.
    ///   - backoff: The delays between attempts.
    ///   - jitter: What chance makes of them.
    ///   - isRetryable: Whether an error is worth another attempt.
    /// - Throws: `PolicyError` when the number or a delay is negative, or a factor below 1.
    public init(
        retries: Int, backoff: Backoff = .exponential(.milliseconds(100)), jitter: Jitter = .full,
        retryIf isRetryable: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) throws(PolicyError) {
        guard retries >= 0 else { throw .negativeRetries(retries) }
        try backoff.check()
        self.retries = retries
        self.backoff = backoff
        self.jitter = jitter
        self.isRetryable = isRetryable
    }

    /// The delay before a retry, counted from 1, with jitter.
    public func delay(beforeRetry retry: Int, using random: inout some RandomNumberGenerator) -> Duration {
        delay(beforeRetry: retry) { Double.random(in: $0, using: &random) }
    }

    /// The same by the system's random numbers.
    ///
    /// Not by handing over a `SystemRandomNumberGenerator`: that is an empty value, for which the compiler passes no address,
    /// and ThreadSanitizer, which is told of the access all the same, may crash at whatever it takes for one.
    package func delay(beforeRetry retry: Int) -> Duration { delay(beforeRetry: retry) { Double.random(in: $0) } }

    private func delay(beforeRetry retry: Int, random: (ClosedRange<Double>) -> Double) -> Duration {
        let delay = backoff.delay(beforeRetry: retry)
        return switch jitter {
        case .none: delay
        case .full: delay * random(0...1)
        case .equal: delay * random(0.5...1)
        }
    }

    /// Whether there is another attempt after so many and this error.
    package func permitsRetry(after attempts: Int, _ error: any Error) -> Bool {
        attempts <= retries && !(error is CancellationError) && isRetryable(error)
    }

    /// Runs `body` until it succeeds, or the policy gives up, and then throws its last error.
    ///
    /// - Parameters:
    ///   - clock: What the delays are measured with.
    ///   - random: Where the jitter comes from.
    ///   - isolation: The actor of the caller, on which `body` runs.
    ///   - body: Given the number of the attempt, from 1.
    public func run<Success>(
        clock: some Clock<Duration> = ContinuousClock(),
        random: sending some RandomNumberGenerator = SystemRandomNumberGenerator(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Int) async throws -> Success
    ) async throws -> Success {
        var random = random
        var attempt = 1
        while true {
            do { return try await body(attempt) } catch {
                guard permitsRetry(after: attempt, error), !Task.isCancelled else { throw error }
            }
            try await clock.sleepFully(for: delay(beforeRetry: attempt, using: &random))
            attempt += 1
        }
    }
}

extension RetryPolicy.Backoff {
    fileprivate func check() throws(PolicyError) {
        let durations: [Duration] =
            switch self {
            case .none: []
            case .constant(let delay): [delay]
            case .linear(let step, let cap): [step, cap]
            case .exponential(let first, _, let cap): [first, cap]
            }
        for duration in durations where duration < .zero { throw .negativeDelay(duration) }
        if case .exponential(_, let factor, _) = self, !(factor >= 1 && factor.isFinite) {
            throw .factorBelowOne(factor)
        }
    }

    /// Before jitter.
    func delay(beforeRetry retry: Int) -> Duration {
        switch self {
        case .none: return .zero
        case .constant(let delay): return delay
        case .linear(let step, let cap):
            guard step > .zero else { return .zero }
            return Double(retry) >= cap / step ? cap : min(step * retry, cap)
        case .exponential(let first, let factor, let cap):
            guard first > .zero else { return .zero }
            // By multiplication that stops at the cap, before it can overflow.
            var (delay, growths) = (first, factor > 1 ? retry - 1 : 0)
            while growths > 0, delay < cap {
                delay = cap / delay <= factor ? cap : delay * factor
                growths -= 1
            }
            return min(delay, cap)
        }
    }
}

/// What is wrong with a policy.
public enum PolicyError: Error, Equatable, Sendable, CustomStringConvertible {
    /// A number of retries below 0.
    case negativeRetries(Int)
    /// A delay below zero.
    case negativeDelay(Duration)
    /// A factor of growth below 1.
    case factorBelowOne(Double)
    /// A time limit that is not above zero.
    case limitNotPositive(Duration)
    /// A rate, or a burst, below 1.
    case rateNotPositive(Int)
    /// A bound below 1.
    case capacityNotPositive(Int)
    /// A limit of ageing below 1.
    case ageingNotPositive(Int)
    /// A time limit set on an operation that has started.
    case tooLate(operation: String)

    public var description: String {
        switch self {
        case .negativeRetries(let retries): "\(retries) retries. Use 0 or more; 0 is one attempt only."
        case .negativeDelay(let delay): "a delay of \(delay). Use zero or more."
        case .factorBelowOne(let factor):
            "delays that grow by \(factor). Use a factor from 1; 1 leaves them as they are."
        case .limitNotPositive(let limit): "a time limit of \(limit). Use more than zero, or cancel the operation."
        case .rateNotPositive(let rate): "a rate of \(rate). Use 1 or more; to let nothing start, suspend the queue."
        case .capacityNotPositive(let capacity): "a bound of \(capacity) operations. Use 1 or more, or nil for none."
        case .ageingNotPositive(let limit):
            "a priority that may be passed over \(limit) times. Use 1 or more, or nil for as often as it comes."
        case .tooLate(let operation): "a time limit was set on \(operation), which has started. Set it before."
        }
    }
}
