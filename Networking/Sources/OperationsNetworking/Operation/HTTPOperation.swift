import HTTPCore
public import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP request as an operation.
///
/// This class is the base class. ``HTTPDataOperation`` decodes the body, ``HTTPDownloadOperation`` writes the body to a file, and
/// ``HTTPStreamOperation`` delivers the body in portions.
///
/// The operation has dependencies, a priority and completion blocks like every other operation. While the operation waits for
/// the network, it occupies a slot of its queue and no thread. ``pause()`` stops the transfer and frees the slot. All members
/// are safe to use on any thread.
public class HTTPOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: locks guard the mutable state.

    final let transfer: Transfer
    /// The tasks that await the value.
    final let waiters = ValueWaiters()

    /// The description of the request.
    public final var request: HTTPRequestDescription { transfer.request }
    /// The session that runs the transfer.
    public final var session: HTTPSession { transfer.session }

    init(
        _ request: HTTPRequestDescription, session: HTTPSession, sink: any BodySink, source: HTTPBodySource? = nil,
        _ revalidation: Revalidation? = nil
    ) {
        transfer = Transfer(request, session: session, sink: sink, source: source, revalidation)
        super.init()
    }

    /// The state of the request. After ``pause()`` the state becomes `paused` when the transfer has stopped.
    public final var state: HTTPOperationState {
        // The operation ends after its transfer. An operation that is cancelled early has no transfer.
        isFinished ? .finished : transfer.state
    }

    /// The head of the last response, after redirects and challenges; nil before it arrives.
    public final var response: HTTPResponse? { transfer.record.withLock { $0.response } }

    /// Whether the response or its body came from the cache.
    public final var servedFromCache: Bool { transfer.record.withLock { $0.isFromCache } }

    /// The addresses of all redirects, in order.
    public final var redirects: [String] { transfer.record.withLock { $0.redirects } }

    /// Measurements of the transfer so far.
    public final var metrics: HTTPMetrics { transfer.record.withLock { $0.metrics } }

    /// The rate of body bytes in both directions over the last five seconds, in bytes per second.
    public final var measuredBandwidth: Double {
        let now = session.ticker.nanoseconds
        return transfer.record.withLock { $0.meter.rate(at: now) }
    }

    // MARK: - Pausing

    /// Stops the transfer and frees the slot. An operation that has not started waits until ``resume()``. No effect after the
    /// operation has finished.
    public final override func pause() {
        switch transfer.pause() {
        case .noEffect: break
        case .hold:
            hold()
            // A resume between the decision and `hold()` finds nothing to release, so check again.
            if !transfer.isPauseWanted { releaseHold() }
        case .stop(let attempt):
            // Hold first: a stopped attempt checks whether the operation is held.
            hold()
            transfer.stop(attempt)
            // As above: a resume before `hold()` would otherwise leave the operation held forever.
            if !transfer.isPauseWanted { releaseHold() }
        }
    }

    /// Puts the operation back in line.
    ///
    /// The transfer continues where it stopped if the server still has the same resource (`Range` and `If-Range`). Otherwise
    /// the transfer starts over. No effect if the operation is not paused.
    public final override func resume() {
        if transfer.resume() { releaseHold() }
    }

    /// Whether a caller has paused the operation.
    public final override var isPaused: Bool { transfer.isPauseWanted }

    /// Holds the operation back: for a pause, or for a wait before another attempt.
    private final func hold() { super.pause() }
    private final func releaseHold() { super.resume() }
    final var isHeldBack: Bool { super.isPaused }

    /// Cancels the operation and stops its transfer.
    public final override func cancel() {
        super.cancel()
        transfer.cancel()
    }

    // MARK: - The work

    /// Runs the transfer, with pauses and retries. The queue calls this method.
    public final override func run() async throws {
        do {
            try await transferAndRetry()
            transfer.finish(nil)
        } catch {
            transfer.finish(error is CancellationError ? cancellation : error)
            if reportsFailure { throw error }
        }
    }

    /// Whether the operation fails if its transfer fails.
    var reportsFailure: Bool { true }

    /// Finishes the transfer of an operation that was cancelled before it began.
    public final override func runWasSkipped() { transfer.finish(cancellation) }

    private final func transferAndRetry() async throws {
        var failures = 0
        while true {
            guard transfer.begin() else {
                try await pauseHere()
                continue
            }
            do {
                try await transfer.attempt(of: self)
                if let complaint, delay(after: failures + 1, complaint) != nil { throw complaint }
                return try await complete()
            } catch {
                try await waitBeforeNextAttempt(after: error, &failures)
            }
        }
    }

    /// Waits before the next attempt: for a resume after a pause, or for the retry delay after a failure.
    ///
    /// - Throws: The error that ends the operation.
    private final func waitBeforeNextAttempt(after error: any Error, _ failures: inout Int) async throws {
        switch error {
        case is Transfer.Paused:
            transfer.stopped()
            try await pauseHere()
        case let error as HTTPError:
            let error = judged(error)
            failures += 1
            guard let delay = delay(after: failures, error) else { throw error }
            transfer.stopped()
            try await wait(delay)
        default: throw error
        }
    }

    /// Returns the reason to reject a response by its head alone; nil to accept it, or if the reader of the body decides.
    func objection(to head: HTTPResponse) -> HTTPError.Reason? { nil }

    /// Returns the rejection of a response if its body could not be received, and the original error otherwise.
    ///
    /// Cut-off bodies are common for uploads: async-http-client may lose the body when a server rejects an upload, explains,
    /// and closes.
    private final func judged(_ error: HTTPError) -> HTTPError {
        let head = transfer.record.withLock { $0.isInBody ? $0.bodyHead : nil }
        guard let head, let objection = objection(to: head) else { return error }
        switch error.reason {
        case .truncated, .connection, .timedOut(.idle), .bodyTooLarge, .undecodableEncoding,
            .decompressionLimitExceeded:
            return HTTPError(objection, url: error.url, response: head)
        default: return error
        }
    }

    /// The error to report for the response if no further attempt follows. The response alone is not a failure.
    var complaint: HTTPError? { nil }

    /// Makes the value of the operation from the complete body.
    func complete() async throws {}

    private final func pauseHere() async throws {
        hold()
        // A resume after this check releases the operation, because the operation is held by now.
        if !transfer.isPauseWanted { releaseHold() }
        await waitWhilePaused()
        try Task.checkCancellation()
    }

    /// Waits without a slot for the whole delay, even if the operation is paused and resumed meanwhile.
    private final func wait(_ delay: Duration) async throws {
        let ticker = session.ticker
        let end = ticker.now() + delay
        while ticker.now() < end {
            hold()
            let timer = Task(executorPreference: OperationQueue.ofTimers) {
                // A timer that was cancelled must not release the hold of the next timer.
                do { try await ticker.sleepUntil(end) } catch { return }
                if !self.transfer.isPauseWanted { self.releaseHold() }
            }
            await waitWhilePaused()
            timer.cancel()
            try Task.checkCancellation()
        }
    }

    /// Returns the delay before the next attempt.
    ///
    /// Returns nil if a retry is useless or not permitted, or if the server asks for a longer delay than the session permits.
    private final func delay(after failures: Int, _ error: HTTPError) -> Duration? {
        guard let policy = session.configuration.retryPolicy, policy.permitsRetry(after: failures, error),
            error.mayRetry(request.method, marking: request.retrySafety, bodyIsRepeatable: transfer.source == nil)
        else { return nil }
        let asked = error.response?.headerFields[.retryAfter].flatMap { RetryAfter.delay($0, now: Date()) } ?? .zero
        guard asked <= session.configuration.longestRetryAfter else { return nil }
        return max(policy.delay(beforeRetry: failures), asked)
    }

    /// The error of an operation that finished without a value.
    final var failure: any Error {
        if case .failed(let failure) = operationOutcome { return failure }
        return cancellation
    }

    private final var cancellation: HTTPError {
        let (url, response) = transfer.record.withLock { ($0.url, $0.response) }
        return HTTPError(.cancelled, url: url, response: response)
    }
}

/// The state of an HTTP operation.
public enum HTTPOperationState: String, Sendable { case ready, executing, paused, finished }
