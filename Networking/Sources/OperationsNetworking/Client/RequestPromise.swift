package import HTTPCore
import Operations

/// One request in the work that the request shares with other requests. The owner of the work implements this protocol.
package protocol RequestParticipant: Sendable {
    /// Applies the latest demand of the request to the work.
    func apply(_ demand: TransferDemand)
    /// Leaves the work, and ends the promise with a cancellation.
    func cancel()
    /// Ends the promise if the work has ended, without waiting for the owner to do this.
    func endIfFinished()
    /// Begins to report progress to the promise. The promise calls this function at most once. Returns the progress so far.
    func beginProgress() -> TransferProgress?
    /// The operation that runs the transfer now.
    var transfer: HTTPOperation? { get }
}

/// The state of a request. The handle of the request reads the promise, and the owner of the work ends it.
///
/// The owner keeps the promise until the request ends, so that the request does not need its handle.
package final class RequestPromise<Value: Sendable, Failure: Error>: Sendable {
    package typealias Outcome = Result<Value, Failure>

    package let url: String
    private let cancellation: Failure
    private let filter: ProgressFilter
    private let progress = Broadcast<TransferProgress?>()
    private let state: Locked<State>

    private struct State {
        var demand: TransferDemand
        var result: Outcome?
        /// The request in its work, until the request ends.
        var participant: (any RequestParticipant)?
        /// The transfer of a request that has ended.
        var transfer: HTTPOperation?
        /// The tasks that await the end.
        var waiting: [Int: CheckedContinuation<Void, Never>] = [:]
        var lastNumber = 0
        var listeners: [@Sendable (Outcome) -> Void] = []
        var hasBegunProgress = false
        var reported: TransferProgress?
        var hasReportedLast = false
    }

    /// - Parameters:
    ///   - cancellation: The error for an awaiting task that was cancelled.
    ///   - minimumStep: The smallest step of the progress, as a fraction of the whole.
    package init(
        url: String, cancellation: Failure, demand: TransferDemand, minimumStep: Double = 0.01,
        participant: (any RequestParticipant)? = nil, result: Outcome? = nil
    ) {
        self.url = url
        self.cancellation = cancellation
        filter = ProgressFilter(minimumStep: minimumStep, minimumBytes: minimumStep > 0 ? 64 << 10 : 0)
        state = Locked(State(demand: demand, result: result, participant: participant))
        if result != nil { progress.finish() }
    }

    // MARK: - The result

    package var value: Value {
        get async throws(Failure) {
            await wait()
            guard let result = state.withLock({ $0.result }) else { throw cancellation }
            return try result.get()
        }
    }

    /// Suspends until the request has ended or the task is cancelled. The last task that is cancelled cancels the request.
    private func wait() async {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if state.result != nil || Task.isCancelled { return true }
                    state.waiting[number] = continuation
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let (waiting, participant) = state.withLock { state in
                let waiting = state.waiting.removeValue(forKey: number)
                let isWanted = !state.waiting.isEmpty || !state.listeners.isEmpty
                return (waiting, isWanted ? nil : state.participant)
            }
            // First, so that the task finds the result of a request that has ended meanwhile.
            participant?.cancel()
            waiting?.resume()
        }
    }

    package var result: Outcome? {
        if let result = state.withLock({ $0.result }) { return result }
        state.withLock { $0.participant }?.endIfFinished()
        return state.withLock { $0.result }
    }

    /// Whether the request has ended.
    package var hasEnded: Bool { state.withLock { $0.result != nil } }

    /// The number of tasks that await the result now.
    package var waiterCount: Int { state.withLock { $0.waiting.count } }

    /// Calls the listener when the request ends, on the thread that ends it. Calls the listener immediately if the request has
    /// already ended.
    package func whenEnded(_ listener: @escaping @Sendable (Outcome) -> Void) {
        let result = state.withLock { state in
            if state.result == nil { state.listeners.append(listener) }
            return state.result
        }
        if let result { listener(result) }
    }

    // MARK: - The request in its work

    package func cancel() { state.withLock { $0.participant }?.cancel() }

    package var demand: TransferDemand { state.withLock { $0.demand } }

    /// Changes the demand, and applies it until the work has the latest demand.
    package func update(_ change: (inout TransferDemand) -> Void) {
        let isChanged = state.withLock { state in
            let old = state.demand
            change(&state.demand)
            // A request that has ended is not paused.
            if state.result != nil { state.demand.isPaused = false }
            return state.demand != old
        }
        var applied: TransferDemand?
        while isChanged {
            let (demand, participant) = state.withLock { ($0.demand, $0.participant) }
            guard let participant, demand != applied else { return }
            participant.apply(demand)
            applied = demand
        }
    }

    package var transfer: HTTPOperation? {
        let (participant, transfer) = state.withLock { ($0.participant, $0.transfer) }
        return participant?.transfer ?? transfer
    }

    // MARK: - For the owner of the work

    /// Connects the request with its work. No effect if the request has ended already.
    package func begin(_ participant: any RequestParticipant) {
        state.withLock { if $0.result == nil { $0.participant = participant } }
    }

    /// Ends the request. Returns false, and has no effect, if the request has ended already.
    ///
    /// - Parameter transfer: The transfer that the handle names after the end.
    @discardableResult
    package func end(_ result: Outcome, transfer: HTTPOperation? = nil) -> Bool {
        let old = state.withLock { state -> State? in
            guard state.result == nil else { return nil }
            let old = state
            state = State(demand: TransferDemand(priority: old.demand.priority), result: result, transfer: transfer)
            state.reported = old.reported
            return old
        }
        guard let old else { return false }
        progress.finish()
        for continuation in old.waiting.values { continuation.resume() }
        for listener in old.listeners { listener(result) }
        return true
    }

    // MARK: - Progress

    package var progressUpdates: AsyncStream<TransferProgress> {
        let filter = Locked(filter)
        let stream = progress.steps({ state.withLock { $0.reported } }) { report -> TransferProgress? in
            guard let report else { return nil }
            return filter.withLock { $0.report(completed: report.completedBytes, total: report.totalBytes) }
        }
        let participant = state.withLock { state -> (any RequestParticipant)? in
            defer { state.hasBegunProgress = true }
            return state.hasBegunProgress ? nil : state.participant
        }
        if let first = participant?.beginProgress() { report(first, isFirst: true) }
        return stream
    }

    /// Reports the received bytes. The owner of the work calls this function in the order of the reports.
    ///
    /// - Parameters:
    ///   - isFirst: Whether an earlier or concurrent report takes precedence.
    ///   - isLast: Whether this report takes precedence over later or concurrent reports.
    package func report(_ report: TransferProgress, isFirst: Bool = false, isLast: Bool = false) {
        // A report without received bytes and without an expected length has no information.
        guard report.completedBytes > 0 || report.totalBytes != nil else { return }
        let isNew = state.withLock { state in
            guard state.result == nil, !state.hasReportedLast, !isFirst || state.reported == nil else { return false }
            (state.reported, state.hasReportedLast) = (report, isLast)
            return true
        }
        if isNew { progress.sendLatest { state.withLock { $0.reported } } }
    }
}
