import HTTPCore

/// The addresses that have failed recently, at most ten thousand. The type is a value without a clock, and times are
/// durations since a fixed moment.
///
/// Methods return the removed failures, so that the caller can release them without a lock. An error can belong to the
/// user's code, whose `deinit` must not run under the lock.
struct FailureCache {
    struct Failure {
        let error: ImageLoadError
        /// The decoding options of the failed request. Nil if the failure does not depend on the options.
        let decoding: ImageDecodingOptions?
        let end: Duration
    }

    private var failures = RecentlyUsed<String, Failure>(costLimit: .max, countLimit: 10_000)
    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    var count: Int { failures.count }

    /// Returns the remembered failure that applies to the request, or nil.
    func failure(of url: String, decoding: ImageDecodingOptions, now: Duration) -> ImageLoadError? {
        guard let known = failures.peek(url), now < known.end, known.decoding ?? decoding == decoding else {
            return nil
        }
        return known.error
    }

    /// Stores a failure if it should be remembered. Returns the failures that are evicted.
    mutating func remember(
        _ error: ImageLoadError, of url: String, decoding: ImageDecodingOptions, now: Duration
    ) -> [Failure] {
        guard duration > .zero, error.reason.isRemembered else { return [] }
        let failure = Failure(
            error: error, decoding: error.reason.dependsOnDecoding ? decoding : nil, end: now + duration)
        return failures.insert(failure, for: url, cost: 0)
    }

    mutating func forget(_ url: String) -> Failure? { failures.remove(url) }

    mutating func forgetAll() -> [Failure] { failures.removeAll() }
}
