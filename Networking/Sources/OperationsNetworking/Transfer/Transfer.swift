import AsyncHTTPClient
import HTTPCore
import NIOCore
import Operations

/// The transfer of one HTTP operation, as a series of attempts.
///
/// The operation's task makes all attempts, and an attempt can be stopped without ending the operation. So a stop ends the
/// attempt's current wait, not the task.
final class Transfer: Sendable {
    /// An error that ends an attempt because the operation was paused.
    struct Paused: Error {}

    let request: HTTPRequestDescription
    /// The address of the first request; nil if the URL is invalid.
    let address: HTTPAddress?
    let session: HTTPSession
    let sink: any BodySink
    let record: Locked<TransferRecord>
    /// The request body, if it can be sent only once.
    let source: HTTPBodySource?
    /// The cap of the request. The session has another cap.
    private let throttle: Throttle?
    private let control: Locked<Control>

    private struct Control {
        var state = TransferState()
        var timing = Timing.limited
        var isCancelled = false
        /// Ends the current wait of the attempt.
        var stopper: (@Sendable () -> Void)?
        /// The executor of the operation's task, which makes the attempt.
        var executor: (any TaskExecutor)?
        var listeners: [@Sendable (HTTPEvent.Kind, String) -> Void] = []
        /// The response to revalidate, until the operation ends; nil in other transfers.
        var revalidation: Revalidation?
        /// Starts requests in the background; nil outside of clients.
        var background: (@Sendable (HTTPOperation) -> Void)?
        /// The subscribers of the progress, notified on the thread that moves bytes; nil before the first subscriber.
        var subscribers: Broadcast<HTTPProgress>?

        var isStopped: Bool { state.phase == .pausing || timing.limitExceeded != nil || isCancelled }
    }

    /// The state of the time limits for an attempt.
    private enum Timing {
        case limited
        /// The attempt was stopped by this limit.
        case exceeded(HTTPError.Limit)
        /// The limits no longer apply, because the cache answers in place of the server.
        case lifted

        var limitExceeded: HTTPError.Limit? { if case .exceeded(let limit) = self { limit } else { nil } }
    }

    init(
        _ request: HTTPRequestDescription, session: HTTPSession, sink: any BodySink, source: HTTPBodySource?,
        _ revalidation: Revalidation?
    ) {
        control = Locked(Control(revalidation: revalidation))
        self.request = request
        self.source = source
        throttle = request.limits.bandwidth.map { Throttle(rate: $0, ticker: session.ticker) }
        self.session = session
        self.sink = sink
        address = HTTPAddress(request.url)
        record = Locked(TransferRecord(url: address?.redacted ?? HTTPAddress.redacted(request.url)))
    }

    /// The response to revalidate; nil in transfers that are not revalidations in the background.
    var revalidation: Revalidation? { control.withLock { $0.revalidation } }

    /// The client's function that starts requests in the background; nil outside of clients.
    var background: (@Sendable (HTTPOperation) -> Void)? {
        get { control.withLock { $0.background } }
        set { control.withLock { $0.background = newValue } }
    }

    /// Returns the caps for one direction of one exchange.
    func pacing() -> Pacing { Pacing(session.throttle, throttle) }

    // MARK: - Listeners

    /// Adds a listener, which is called on the thread of the event, without a lock.
    func addListener(_ listener: @escaping @Sendable (HTTPEvent.Kind, String) -> Void) {
        control.withLock { $0.listeners.append(listener) }
    }

    func report(_ kind: HTTPEvent.Kind) {
        let listeners = control.withLock { $0.listeners }
        guard !listeners.isEmpty else { return }
        let url = record.withLock { $0.url }
        for listener in listeners { listener(kind, url) }
    }

    /// The broadcast of the progress; nil without subscribers.
    var subscribers: Broadcast<HTTPProgress>? { control.withLock { $0.subscribers } }

    /// Returns the broadcast of the progress, and creates it if necessary.
    func progressBroadcast() -> Broadcast<HTTPProgress> {
        control.withLock { control in
            if let subscribers = control.subscribers { return subscribers }
            let subscribers = Broadcast<HTTPProgress>(isFinished: control.state.phase == .finished)
            control.subscribers = subscribers
            return subscribers
        }
    }

    // MARK: - Pauses and attempts

    var state: HTTPOperationState {
        switch control.withLock({ $0.state.phase }) {
        case .ready: .ready
        case .executing, .pausing: .executing
        case .paused: .paused
        case .finished: .finished
        }
    }

    func pause() -> TransferState.Pausing {
        let pausing = control.withLock { $0.state.pause() }
        // A running transfer reports the pause when it has stopped.
        if pausing == .hold { report(.paused) }
        return pausing
    }

    func resume() -> Bool { control.withLock { $0.state.resume() } }

    var isPauseWanted: Bool { control.withLock { $0.state.isPauseWanted } }

    func begin() -> Bool {
        guard control.withLock({ $0.state.begin() }) else { return false }
        record.withLock { $0.metrics.attempts += 1 }
        report(.started)
        return true
    }

    func stopped() {
        let isPaused = control.withLock { control in
            control.state.stopped()
            return control.state.phase == .paused
        }
        if isPaused { report(.paused) }
    }

    /// Ends the operation: with a complete body, or with an error.
    func finish(_ failure: (any Error)?) {
        // Before the listeners are called: they may add requests that must see the change.
        if !request.method.isSafe { session.noteChange() }
        // Before the listeners are called: they may add requests that revalidate the response again.
        let revalidation = control.withLock { control in
            control.state.finish()
            return control.revalidation.take()
        }
        withExtendedLifetime(revalidation) {}
        if let failure { sink.abandon(failure) }
        report(.finished(failure))
        reportProgress()
        subscribers?.finish()
    }

    /// Stops an attempt. A later attempt is not affected.
    func stop(_ attempt: Int, because timeout: HTTPError.Limit? = nil) {
        let stopper = control.withLock { control -> (@Sendable () -> Void)? in
            guard control.state.attempt == attempt else { return nil }
            if let timeout {
                if case .lifted = control.timing { return nil }
                control.timing = .exceeded(timeout)
            }
            return control.stopper
        }
        stopper?()
    }

    /// Continues the attempt without its server, after a time limit may have stopped it.
    ///
    /// - Throws: `CancellationError`, if the attempt must stop for another reason.
    func liftTimeLimits() throws {
        let isStopped = control.withLock { control in
            control.timing = .lifted
            return control.isStopped
        }
        if isStopped { throw CancellationError() }
    }

    /// Stops every attempt.
    func cancel() {
        let stopper = control.withLock { control in
            control.isCancelled = true
            return control.stopper
        }
        stopper?()
    }

    var isStopped: Bool { control.withLock { $0.isStopped } }

    /// - Throws: `CancellationError`, if the attempt must stop.
    func checkNotStopped() throws { if isStopped { throw CancellationError() } }

    /// Runs a wait that a stop of the attempt ends by calling `stop`. The call may happen on any thread, more than once, and
    /// before the wait has begun.
    func waiting<Result>(
        stoppedBy stop: @escaping @Sendable () -> Void, _ body: () async throws -> Result
    ) async rethrows -> Result {
        let (outer, isStopped) = control.withLock { control in
            defer { control.stopper = stop }
            return (control.stopper, control.isStopped)
        }
        defer {
            let own = control.withLock { control in
                defer { control.stopper = outer }
                return control.stopper
            }
            withExtendedLifetime(own) {}
        }
        if isStopped { stop() }
        return try await body()
    }

    /// Runs code that stops like a task, such as a caller's function.
    func inTask<Result: Sendable>(_ body: @escaping @Sendable () async throws -> Result) async throws -> Result {
        let task = Task(executorPreference: executor) { try await body() }
        return try await waiting(stoppedBy: { task.cancel() }) { try await task.value }
    }

    var executor: (any TaskExecutor)? { control.withLock { $0.executor } }

    // MARK: - An attempt

    /// Makes an attempt, which ends when the body is complete.
    ///
    /// - Throws: `Paused`; `CancellationError`, if the operation is cancelled; otherwise an `HTTPError`.
    func attempt(of operation: HTTPOperation) async throws {
        let executor = operation.taskExecutor
        let number = control.withLock { control in
            control.timing = .limited
            control.executor = executor
            return control.state.attempt
        }
        let start = session.ticker.now()
        record.withLock { $0.lastActivity = start }
        let watch = session.watch.begin(self, attempt: number)
        defer {
            if let watch { session.watch.end(watch) }
            control.withLock { $0.executor = nil }
            let now = session.ticker.now()
            record.withLock { record in
                record.spent += now - start
                record.metrics.total = record.spent
            }
        }
        do {
            try checkNotStopped()
            try await exchange()
        } catch {
            throw cause(of: error)
        }
    }

    /// Returns the error of an attempt: `Paused`, `CancellationError`, or an `HTTPError`.
    func cause(of error: any Error) -> any Error {
        if Task.isCancelled { return CancellationError() }
        let (timeout, isPausing) = control.withLock { ($0.timing.limitExceeded, $0.state.phase == .pausing) }
        if isPausing { return Paused() }
        let (url, response) = record.withLock { ($0.url, $0.response) }
        if let timeout { return HTTPError(.timedOut(timeout), url: url, response: response) }
        if let error = error as? HTTPError { return error }
        return HTTPError(HTTPError.Reason(error), url: url, response: response)
    }

    /// Returns the time at which an attempt must stop if no further byte moves; nil without a limit.
    func end(startedAt start: Duration, now: Duration) -> (time: Duration, limit: HTTPError.Limit)? {
        let limits = request.limits
        guard limits.idleTimeout != nil || limits.totalTimeout != nil else { return nil }
        let isAttended = sink.isAttended
        let (last, spent) = record.withLock {
            ($0.waitsForOthers > 0 || $0.waitsForReader && isAttended ? now : $0.lastActivity, $0.spent)
        }
        let idle = limits.idleTimeout.map { (time: last + $0, limit: HTTPError.Limit.idle) }
        let whole = limits.totalTimeout.map { (time: start + $0 - spent, limit: HTTPError.Limit.total) }
        guard let idle, let whole else { return idle ?? whole }
        return idle.time < whole.time ? idle : whole
    }
}
