public import HTTPCore
public import Operations
public import OperationsNetworking

/// A handle to a request for an image. Equal requests share the work. Each handle cancels its own request only, and the
/// work stops when its last request is cancelled. A deallocated handle does not cancel its request.
public final class ImageRequestHandle: Sendable {
    typealias Outcome = Result<LoadedImage, ImageLoadError>

    /// The requested address without user name and password.
    public let url: String
    private let waiter: Int
    private let state: Locked<State>

    private struct State {
        var outcome: Outcome?
        /// The pipeline, until the request ends.
        var pipeline: ImagePipeline?
        var priority: Operation.QueuePriority
        /// The tasks that await the outcome.
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
        /// The number of the last report that the follower has received.
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

    /// The image. The cancellation of the awaiting task ends the wait and does not cancel the request.
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
                // Only this task stops waiting, because other tasks may await the same handle.
                state.withLock { $0.waiting.removeValue(forKey: number) }?.resume()
            }
            guard let outcome = state.withLock({ $0.outcome }) else { throw ImageLoadError(.cancelled, url: url) }
            return try outcome.get()
        }
    }

    /// The image or the failure if the request has ended, otherwise nil.
    public var outcomeSoFar: Result<LoadedImage, ImageLoadError>? { state.withLock { $0.outcome } }

    /// Cancels the request, so that `value` throws. Other requests that share the work are not affected. The method has
    /// no effect after the request has ended.
    public func cancel() { state.withLock { $0.pipeline }?.cancel(waiter) }

    /// The priority of the request. A shared transfer has the highest priority of its requests.
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

    /// The current transfer for the request, or nil. Pausing or resuming the transfer affects all requests that share
    /// it.
    public var transfer: HTTPOperation? { state.withLock { $0.pipeline }?.transfer(of: waiter) }

    /// A stream of the received bytes, in steps of `ImageLoader.Configuration.minimumProgressStep`. The stream ends
    /// with the request, and ends immediately if no transfer is necessary. Each access creates a new stream.
    public var progressUpdates: AsyncStream<TransferProgress> {
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

    /// Calls the listener when the request ends, on the thread that ends it. Calls the listener immediately if the
    /// request has already ended.
    func whenOver(_ listener: @escaping @Sendable (Outcome) -> Void) {
        let outcome = state.withLock { state in
            if state.outcome == nil { state.listeners.append(listener) }
            return state.outcome
        }
        if let outcome { listener(outcome) }
    }

    /// Ends the request with an outcome. The method has no effect after the request has ended.
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
        // A report without received bytes and without an expected length has no information.
        guard progress.received > 0 || progress.expected != nil else { return }
        let reports = state.withLock { state in
            state.followers.compactMap { number, follower -> (Follower, TransferProgress)? in
                guard report.number > follower.number else { return nil }
                state.followers[number]?.number = report.number
                return state.followers[number]?.filter.report(completed: progress.received, total: progress.expected)
                    .map { (follower, $0) }
            }
        }
        for (follower, report) in reports { follower.continuation.yield(report) }
    }
}
