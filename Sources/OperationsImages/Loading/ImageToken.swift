#if Networking
public import HTTPCore
public import Operations
public import OperationsNetworking

/// Somebody's wish for an image (rule I2). Others may have the same wish and share the work: each cancels for himself, and
/// the last one stops it. A token that is dropped goes on.
public final class ImageToken: Sendable {
    typealias Outcome = Result<LoadedImage, ImageLoadError>

    /// As it was asked for, without user name and password.
    public let url: String
    private let waiter: Int
    private let state: Locked<State>

    private struct State {
        var outcome: Outcome?
        /// Until it is over.
        var pipeline: ImagePipeline?
        var priority: Operation.QueuePriority
        /// Tasks that await the outcome.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var listeners: [@Sendable (Outcome) -> Void] = []
        var followers: [Int: Follower] = [:]
        var lastNumber = 0

        mutating func nextNumber() -> Int {
            lastNumber += 1
            return lastNumber
        }
    }

    private struct Follower {
        let continuation: AsyncStream<TransferProgress>.Continuation
        var filter: ProgressFilter
        /// Of the last report that it has seen.
        var number = 0
    }

    init(url: String, waiter: Int, pipeline: ImagePipeline, priority: Operation.QueuePriority) {
        self.url = url
        self.waiter = waiter
        state = Locked(State(pipeline: pipeline, priority: priority))
    }

    init(url: String, outcome: Outcome, priority: Operation.QueuePriority) {
        self.url = url
        waiter = 0
        state = Locked(State(outcome: outcome, priority: priority))
    }

    /// The image. A task that is cancelled waits no longer, and leaves the wish as it is.
    public var value: LoadedImage {
        get async throws(ImageLoadError) {
            let number = state.withLock { $0.nextNumber() }
            await withTaskCancellationHandler {
                await withCheckedContinuation { continuation in
                    let isOver = state.withLock { state in
                        if state.outcome != nil || Task.isCancelled { return true }
                        state.waiting[number] = continuation
                        return false
                    }
                    if isOver { continuation.resume() }
                }
            } onCancel: {
                // This task alone: others may await the same.
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
            guard let outcome = state.withLock({ $0.outcome }) else { throw ImageLoadError(.cancelled, url: url) }
            return try outcome.get()
        }
    }

    /// The image, or why there is none, if it is over; nil if not.
    public var outcomeSoFar: Result<LoadedImage, ImageLoadError>? { state.withLock { $0.outcome } }

    /// Gives up. Its `value` throws that it was cancelled; others who share the work get theirs. No effect when it is over.
    public func cancel() { state.withLock { $0.pipeline }?.cancel(waiter) }

    /// How urgent it is. The most urgent of those who share a transfer counts for it.
    public var priority: Operation.QueuePriority {
        get { state.withLock { $0.priority } }
        set {
            let pipeline = state.withLock { state in
                state.priority = newValue
                return state.pipeline
            }
            pipeline?.setPriority(newValue, of: waiter)
        }
    }

    /// What transfers for it now, if anything does; pausing and resuming it concerns all who share it.
    public var transfer: AnyHTTPOperation? { state.withLock { $0.pipeline }?.transfer(of: waiter) }

    /// How much of the file has come, in steps of `ImageLoader.Configuration.minimumProgressStep`. Ends with the wish, and
    /// at once where nothing is transferred. Each use makes a stream of its own.
    public var progress: AsyncStream<TransferProgress> {
        let (stream, continuation) = AsyncStream.makeStream(of: TransferProgress.self)
        let (pipeline, number) = state.withLock { state -> (ImagePipeline?, Int) in
            let number = state.nextNumber()
            if let pipeline = state.pipeline {
                let step = pipeline.configuration.minimumProgressStep
                let filter = ProgressFilter(minimumStep: step, minimumBytes: step > 0 ? 64 << 10 : 0)
                state.followers[number] = Follower(continuation: continuation, filter: filter)
            }
            return (state.pipeline, number)
        }
        guard let pipeline else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            let old = self?.state.withLock { $0.followers.removeValue(forKey: number) }
            withExtendedLifetime(old) {}
        }
        pipeline.follow(waiter)
        return stream
    }

    // MARK: - For the pipeline

    /// Called once it is over, on the thread that ends it; at once if it is.
    func whenOver(_ listener: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.listeners.append(listener) }
            return state.outcome
        }
        if let outcome { listener(outcome) }
    }

    /// No effect when it is over.
    func end(_ outcome: Outcome) {
        var old = state.withLock { state -> State? in
            guard state.outcome == nil else { return nil }
            let old = state
            state = State(outcome: outcome, priority: old.priority)
            return old
        }
        for continuation in old?.waiting.values ?? [:].values { continuation.resume() }
        for follower in old?.followers.values ?? [:].values { follower.continuation.finish() }
        for listener in old?.listeners ?? [] { listener(outcome) }
        old = nil
    }

    func tell(_ report: NumberedProgress) {
        let progress = report.progress
        // That nothing has come of nobody knows how much is no news.
        guard progress.received > 0 || progress.expected != nil else { return }
        let reports = state.withLock { state in
            state.followers.compactMap { number, follower -> (Follower, TransferProgress)? in
                guard report.number > follower.number else { return nil }
                state.followers[number]?.number = report.number
                return state.followers[number]?.filter.report(total: progress.received, expected: progress.expected)
                    .map { (follower, $0) }
            }
        }
        for (follower, report) in reports { follower.continuation.yield(report) }
    }
}
#endif
