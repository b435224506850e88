#if Networking
import AsyncHTTPClient
import HTTPCore
import NIOCore
import Operations

/// The transfer of one HTTP operation: one attempt after the other, each a task of its own, so that it can be stopped
/// without ending the operation.
final class Transfer: Sendable {
    /// The attempt was stopped because somebody paused the operation.
    struct Paused: Error {}

    let request: HTTPOperationRequest
    let session: HTTPSession
    let sink: any BodySink
    let record: Locked<TransferRecord>
    private let listeners = Locked<[@Sendable (HTTPEvent.Kind, String) -> Void]>([])
    let followers = Locked<[Int: AsyncStream<HTTPProgress>.Continuation]>([:])
    private let control = Locked(Control())

    private struct Control {
        var state = TransferState()
        var attempt: Task<Void, any Error>?
        /// Why the attempt was stopped, if not by a pause or by cancelling the operation.
        var timeout: HTTPError.Limit?
    }

    init(_ request: HTTPOperationRequest, session: HTTPSession, sink: any BodySink) {
        self.request = request
        self.session = session
        self.sink = sink
        record = Locked(TransferRecord(url: HTTPAddress.redacted(request.url)))
    }

    // MARK: - Following

    /// Called on the thread on which it happens, without a lock.
    func follow(_ listener: @escaping @Sendable (HTTPEvent.Kind, String) -> Void) {
        listeners.withLock { $0.append(listener) }
    }

    func tell(_ kind: HTTPEvent.Kind) {
        let listeners = listeners.withLock { $0 }
        guard !listeners.isEmpty else { return }
        let url = record.withLock { $0.url }
        for listener in listeners { listener(kind, url) }
    }

    // MARK: - Steering

    var state: HTTPOperationState {
        switch control.withLock({ $0.state.phase }) {
        case .ready: .ready
        case .executing, .pausing: .executing
        case .paused: .paused
        case .finished: .finished
        }
    }

    func pause() -> TransferState.Pausing { control.withLock { $0.state.pause() } }

    func resume() -> Bool { control.withLock { $0.state.resume() } }

    var isPauseWanted: Bool { control.withLock { $0.state.isPauseWanted } }

    func begin() -> Bool {
        guard control.withLock({ $0.state.begin() }) else { return false }
        record.withLock { $0.metrics.attempts += 1 }
        tell(.started)
        return true
    }

    func stopped() {
        let isPaused = control.withLock { control in
            control.state.stopped()
            return control.state.phase == .paused
        }
        if isPaused { tell(.paused) }
    }

    /// The operation ends: with all of the body, or for this reason.
    func finish(_ failure: (any Error)?) {
        control.withLock { $0.state.finish() }
        if let failure { sink.abandon(failure) }
        tell(.finished(failure))
        tellProgress()
        for follower in followers.withLock({ $0 }).values { follower.finish() }
    }

    /// Stops this attempt; one that comes later goes on.
    func stop(_ attempt: Int, because timeout: HTTPError.Limit? = nil) {
        let task = control.withLock { control -> Task<Void, any Error>? in
            guard control.state.attempt == attempt else { return nil }
            if let timeout { control.timeout = timeout }
            return control.attempt
        }
        task?.cancel()
    }

    // MARK: - An attempt

    /// Transfers until the body is complete.
    ///
    /// - Throws: `Paused`; `CancellationError` when the operation is cancelled; else an `HTTPError`.
    func attempt(of operation: AnyHTTPOperation) async throws {
        let number = control.withLock { control in
            control.timeout = nil
            return control.state.attempt
        }
        let task = Task(executorPreference: operation.taskExecutor) { try await self.exchange(attempt: number) }
        // Who wanted to stop it before it could be found here did not find it.
        let isLate = control.withLock { control in
            control.attempt = task
            return control.state.phase == .pausing
        }
        if isLate { task.cancel() }
        let watch = watch(attempt: number)
        let start = session.ticker.now()
        defer {
            watch?.cancel()
            control.withLock { $0.attempt = nil }
            let now = session.ticker.now()
            record.withLock { record in
                record.spent += now - start
                record.metrics.total = record.spent
            }
        }
        do {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        } catch {
            throw cause(of: error)
        }
    }

    private func cause(of error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        let (timeout, isPausing) = control.withLock { ($0.timeout, $0.state.phase == .pausing) }
        if isPausing { return Paused() }
        let (url, response) = record.withLock { ($0.url, $0.response) }
        if let timeout { return HTTPError(.timedOut(timeout), url: url, response: response) }
        if let error = error as? HTTPError { return error }
        return HTTPError(HTTPError.Reason(error), url: url, response: response)
    }

    /// Stops the attempt when nothing has come for too long, or it takes too long in all.
    private func watch(attempt: Int) -> Task<Void, Never>? {
        let (limits, ticker) = (request.limits, session.ticker)
        guard limits.idle != nil || limits.whole != nil else { return nil }
        let start = ticker.now()
        record.withLock { $0.lastActivity = start }
        return Task {
            while !Task.isCancelled {
                let (now, isAttended) = (ticker.now(), self.sink.isAttended)
                let (last, spent) = self.record.withLock {
                    ($0.isWaitingForOthers && isAttended ? now : $0.lastActivity, $0.spent)
                }
                let idle = limits.idle.map { (last + $0, HTTPError.Limit.idle) }
                let whole = limits.whole.map { (start + $0 - spent, HTTPError.Limit.whole) }
                guard let (end, limit) = [idle, whole].compactMap({ $0 }).min(by: { $0.0 < $1.0 }) else { return }
                let left = end - ticker.now()
                guard left > .zero else { return self.stop(attempt, because: limit) }
                do { try await ticker.sleep(left) } catch { return }
            }
        }
    }
}
#endif
