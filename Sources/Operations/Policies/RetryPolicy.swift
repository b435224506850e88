/// A rule for repeating failed work: the number of retries, and the delays before them.
///
/// ```swift
/// let policy = RetryPolicy(retries: 4, backoff: .exponential(.milliseconds(100), cap: .seconds(5)))
/// let photo = try await policy.run { _ in try await fetch() }
/// ```
///
/// A `CancellationError` is never retried. After a cancellation of the task, no error is retried.
public struct RetryPolicy: Sendable {
    /// The delays between attempts, before jitter.
    public enum Backoff: Sendable, Equatable {
        /// No delay.
        case none
        /// The same delay before each retry.
        case constant(Duration)
        /// A delay of one step, then two steps, then three, up to the cap.
        case linear(Duration, cap: Duration = .seconds(60))
        /// A first delay that grows by a factor with each retry, up to the cap.
        case exponential(Duration, factor: Double = 2, cap: Duration = .seconds(60))
    }

    /// The random part of a delay. Jitter spreads the retries of work that failed at the same time.
    public enum Jitter: Sendable, Equatable {
        /// The delay of the backoff.
        case none
        /// A random delay between zero and the delay of the backoff.
        case full
        /// A random delay between half the delay of the backoff and the whole delay.
        case equal
    }

    /// The largest number of retries.
    public let retries: Int
    /// The delays between attempts, before jitter.
    public let backoff: Backoff
    /// The random part of the delays.
    public let jitter: Jitter
    private let isRetryable: @Sendable (any Error) -> Bool

    /// Creates a policy.
    ///
    /// - Parameters:
    ///   - retries: The largest number of retries; 0 means one attempt.
    ///   - backoff: The delays between attempts.
    ///   - jitter: The random part of the delays.
    ///   - isRetryable: Returns whether an error justifies another attempt.
    ///
    /// The call stops the process if the number of retries or a delay is negative, or a factor is below 1 or not finite.
    public init(
        retries: Int, backoff: Backoff = .exponential(.milliseconds(100)), jitter: Jitter = .full,
        retryIf isRetryable: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) {
        if retries < 0 { InvalidPolicy.retries(retries).stop() }
        backoff.check()
        self.retries = retries
        self.backoff = backoff
        self.jitter = jitter
        self.isRetryable = isRetryable
    }

    /// Returns the delay before a retry, with jitter. The first retry has the number 1.
    public func delay(beforeRetry retry: Int, using random: inout some RandomNumberGenerator) -> Duration {
        delay(beforeRetry: retry) { Double.random(in: $0, using: &random) }
    }

    /// Returns the delay before a retry, with jitter from the system's random numbers. The first retry has the number 1.
    public func delay(beforeRetry retry: Int) -> Duration {
        // A `SystemRandomNumberGenerator` passed to the other method is an empty value, so the compiler passes no address.
        // ThreadSanitizer may crash when it looks at the access.
        delay(beforeRetry: retry) { Double.random(in: $0) }
    }

    private func delay(beforeRetry retry: Int, random: (ClosedRange<Double>) -> Double) -> Duration {
        let delay = backoff.delay(beforeRetry: retry)
        return switch jitter {
        case .none: delay
        case .full: delay * random(0...1)
        case .equal: delay * random(0.5...1)
        }
    }

    /// Whether the policy permits another attempt after `attempts` failed attempts, the last of which failed with the error.
    ///
    /// Always false for `CancellationError`.
    public func permitsRetry(after attempts: Int, _ error: any Error) -> Bool {
        attempts <= retries && !(error is CancellationError) && isRetryable(error)
    }

    /// Runs `body` until an attempt succeeds or the policy permits no further attempt.
    ///
    /// - Parameters:
    ///   - clock: The clock that measures the delays.
    ///   - random: The source of the jitter.
    ///   - isolation: The actor of the caller, on which `body` runs.
    ///   - body: The work. It receives the number of the attempt, which begins at 1.
    /// - Throws: The error of the last attempt, or `CancellationError` when the task was cancelled during a delay.
    public func run<Success>(
        clock: some Clock<Duration> = ContinuousClock(),
        random: sending some RandomNumberGenerator = SystemRandomNumberGenerator(),
        isolation: isolated (any Actor)? = #isolation,
        _ body: (Int) async throws -> Success
    ) async throws -> Success {
        var random = random
        return try await repeating(body) { attempt in
            try await clock.sleepFully(for: delay(beforeRetry: attempt, using: &random))
        }
    }

    /// Runs `body` as part of the operation of this task, which releases its slot during the delays.
    @usableFromInline
    func runReleasingSlot<Success>(_ body: @Sendable () async throws -> Success) async throws -> Success {
        let operation = ThreadContext.ofCurrentTask?.operation as? AsyncOperation
        return try await run(
            releasingSlotOf: operation, clock: ContinuousClock(), random: SystemRandomNumberGenerator()
        ) { _ in try await body() }
    }

    /// Runs `body` as part of an operation, which releases its slot during the delays.
    func run<Success>(
        releasingSlotOf operation: AsyncOperation?, clock: some Clock<Duration>, random: some RandomNumberGenerator,
        _ body: @Sendable (Int) async throws -> Success
    ) async throws -> Success {
        var random = random
        return try await repeating(body) { attempt in
            let delay = delay(beforeRetry: attempt, using: &random)
            guard delay > .zero else { return }
            if let operation {
                try await operation.releaseSlot(for: delay, clock: clock)
            } else {
                try await clock.sleepFully(for: delay)
            }
        }
    }

    private func repeating<Success>(
        isolation: isolated (any Actor)? = #isolation, _ body: (Int) async throws -> Success,
        wait: (Int) async throws -> Void
    ) async throws -> Success {
        var attempt = 1
        while true {
            do { return try await body(attempt) } catch {
                guard permitsRetry(after: attempt, error), !Task.isCancelled else { throw error }
            }
            try await wait(attempt)
            attempt += 1
        }
    }
}

extension RetryPolicy.Backoff {
    fileprivate func check() {
        let durations: [Duration] =
            switch self {
            case .none: []
            case .constant(let delay): [delay]
            case .linear(let step, let cap): [step, cap]
            case .exponential(let first, _, let cap): [first, cap]
            }
        for duration in durations where duration < .zero { InvalidPolicy.delay(duration).stop() }
        if case .exponential(_, let factor, _) = self, !(factor >= 1 && factor.isFinite) {
            InvalidPolicy.factor(factor).stop()
        }
    }

    /// Returns the delay before a retry, without jitter. O(log retry).
    func delay(beforeRetry retry: Int) -> Duration {
        let retry = max(retry, 1)
        switch self {
        case .none: return .zero
        case .constant(let delay): return delay
        case .linear(let step, let cap):
            guard step > .zero else { return .zero }
            return Double(retry) >= cap / step ? cap : min(step * retry, cap)
        case .exponential(let first, let factor, let cap):
            guard first > .zero else { return .zero }
            // May become infinite. A duration that grows step by step would trap, or never grow from a few attoseconds.
            var (growth, power, exponent) = (1.0, factor, retry - 1)
            while exponent > 0 {
                if exponent & 1 == 1 { growth *= power }
                power *= power
                exponent >>= 1
            }
            return cap / first <= growth ? cap : first * growth
        }
    }
}
