#if Networking
/// Which addresses have failed a short while ago (rule I1): a plain value, of the latest ten thousand. Times are since some
/// moment.
///
/// Old errors are answered, not dropped: they may be the user's, whose `deinit` runs when no lock is held.
struct FailureMemory {
    struct Failure {
        let error: ImageLoadError
        /// What was asked of the decoder, where another wish may fare better; nil where none can.
        let decoding: ImageDecodingOptions?
        let end: Duration
    }

    private var failures = RecentlyUsed<String, Failure>(costLimit: .max, countLimit: 10_000)
    let duration: Duration

    init(duration: Duration) { self.duration = duration }

    var count: Int { failures.count }

    /// Why there is no use in asking now; nil if there is.
    func failure(of url: String, decoding: ImageDecodingOptions, now: Duration) -> ImageLoadError? {
        guard let known = failures.peek(url), now < known.end, known.decoding ?? decoding == decoding else {
            return nil
        }
        return known.error
    }

    /// Answers what is forgotten instead.
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
#endif
