#if Networking
import HTTPCore
public import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// An HTTP request as an operation, whatever becomes of its answer: ``HTTPOperation`` decodes it,
/// ``HTTPDownloadOperation`` writes it to a file, ``HTTPStreamOperation`` hands it on as it comes.
///
/// It is an operation in every respect (rule R1), and can be paused: then the transfer stops, the slot goes to others, and
/// it goes on where it was (rule R4). Tasks, not threads, wait for the network.
public class AnyHTTPOperation: AsyncOperation, WorkDiscarding, @unchecked Sendable {
    // Sendable: what changes is guarded.

    final let transfer: Transfer

    public final var request: HTTPOperationRequest { transfer.request }
    public final var session: HTTPSession { transfer.session }

    init(
        _ request: HTTPOperationRequest, session: HTTPSession, sink: any BodySink, source: HTTPBodySource? = nil
    ) {
        transfer = Transfer(request, session: session, sink: sink, source: source)
        super.init()
    }

    /// How far it is (rule R2). A pause is `paused` when the transfer has stopped.
    public final var state: HTTPOperationState {
        // The operation ends after its transfer, or without one.
        isFinished ? .finished : transfer.state
    }

    /// The head of the response, as soon as there is one: the last one, after redirects and challenges.
    public final var response: HTTPResponse? { transfer.record.withLock { $0.response } }

    /// The response, or its body, was not loaded for this operation (rule C2).
    public final var servedFromCache: Bool { transfer.record.withLock { $0.isFromCache } }

    /// The addresses that the request was redirected to, in order.
    public final var redirects: [String] { transfer.record.withLock { $0.redirects } }

    /// What it took, as far as it has come.
    public final var metrics: HTTPMetrics { transfer.record.withLock { $0.metrics } }

    /// How much has gone either way.
    public final var transferProgress: HTTPProgress { transfer.currentProgress }

    /// The same each time that it changes, and once at the beginning. What is not taken in time is replaced by what is
    /// newer. Ends with the operation.
    public final var transferProgressUpdates: AsyncStream<HTTPProgress> { transfer.progressUpdates() }

    /// Bytes of its bodies a second, both ways, over the last five seconds (rule R13).
    public final var measuredBandwidth: Double {
        let now = session.ticker.nanoseconds
        return transfer.record.withLock { $0.meter.rate(at: now) }
    }

    // MARK: - Pausing

    /// Stops the transfer and gives the slot back; before the start, it is not started. No effect when it has finished.
    public final func pause() {
        switch transfer.pause() {
        case .needless: break
        case .hold:
            hold()
            // Who resumes it between the decision and the holding lets go of what is not held yet.
            if !transfer.isPauseWanted { letGo() }
        case .stop(let attempt):
            // First held: what is stopped looks whether it is.
            hold()
            transfer.stop(attempt)
            // As above: else who resumes it before it is held leaves it held for ever.
            if !transfer.isPauseWanted { letGo() }
        }
    }

    /// Goes on: queued again, and then where it was, if the server still has the same (`Range` and `If-Range`).
    public final func resume() {
        if transfer.resume() { letGo() }
    }

    /// Stops the transfer; see `Operation.cancel()`.
    public final override func cancel() {
        super.cancel()
        transfer.cancel()
    }

    // MARK: - The work

    public final override func run() async throws {
        do {
            try await transferAndRetry()
            transfer.finish(nil)
        } catch {
            transfer.finish(error is CancellationError ? cancellation : error)
            throw error
        }
    }

    /// It was cancelled before it began.
    package final func workIsDiscarded() { transfer.finish(cancellation) }

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
                try await waitToGoOn(after: error, &failures)
            }
        }
    }

    /// - Throws: What the operation ends with.
    private final func waitToGoOn(after error: any Error, _ failures: inout Int) async throws {
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

    /// What is wrong with a response, as far as its head tells; nil if nothing is, or the body's reader is to judge.
    func objection(to head: HTTPResponse) -> HTTPError.Reason? { nil }

    /// A refusal is told as such, though the words that go with it have broken off. That happens to uploads: async-http-client
    /// may lose what a server says who refuses one, says why, and closes.
    private final func judged(_ error: HTTPError) -> HTTPError {
        let head = transfer.record.withLock { $0.isInBody ? $0.bodyHead : nil }
        guard let head, let objection = objection(to: head) else { return error }
        switch error.reason {
        case .truncated, .connection: return HTTPError(objection, url: error.url, response: head)
        default: return error
        }
    }

    /// What would be said of the response if nothing came of another attempt; it is no failure by itself.
    var complaint: HTTPError? { nil }

    /// The body is there: makes the value of it.
    func complete() async throws {}

    private final func pauseHere() async throws {
        hold()
        // Who resumes it after this lets it go after it was held.
        if !transfer.isPauseWanted { letGo() }
        await standAside()
        try Task.checkCancellation()
    }

    /// Waits without a slot, all of the time: also if it is paused and resumed meanwhile.
    private final func wait(_ delay: Duration) async throws {
        let ticker = session.ticker
        let end = ticker.now() + delay
        while ticker.now() < end {
            hold()
            let timer = Task {
                // One that is not needed any more has nothing to say about the next one's hold.
                do { try await ticker.sleepUntil(end) } catch { return }
                if !self.transfer.isPauseWanted { self.letGo() }
            }
            await standAside()
            timer.cancel()
            try Task.checkCancellation()
        }
    }

    /// How long to wait before it is tried again. Nil if that is no use or not allowed, or if the server asks for a longer
    /// wait than the session allows (rule R10).
    private final func delay(after failures: Int, _ error: HTTPError) -> Duration? {
        guard let policy = session.configuration.retryPolicy, policy.permitsRetry(after: failures, error),
            error.mayRetry(request.method, marking: request.retryMarking, bodyIsRepeatable: transfer.source == nil)
        else { return nil }
        let asked = error.response?.headerFields[.retryAfter].flatMap { RetryAfter.delay($0, now: Date()) } ?? .zero
        guard asked <= session.configuration.longestRetryAfter else { return nil }
        return max(policy.delay(beforeRetry: failures), asked)
    }

    /// Why there is no value, when it has finished without one.
    final var failure: any Error {
        if let failure = failureReported, !(failure is CancellationError) { return failure }
        return cancellation
    }

    private final var cancellation: HTTPError {
        let (url, response) = transfer.record.withLock { ($0.url, $0.response) }
        return HTTPError(.cancelled, url: url, response: response)
    }
}

/// How far an HTTP operation is (rule R2).
public enum HTTPOperationState: String, Sendable { case ready, executing, paused, finished }
#endif
