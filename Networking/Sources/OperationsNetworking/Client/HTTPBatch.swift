import HTTPCore
public import Operations

/// Several requests with one common progress and one completion. `HTTPClientQueue.batch` creates and starts a batch.
///
/// A batch finishes after all its members. A batch is an operation, so it can have dependents, completion blocks and observers.
/// A batch is not a `GroupOperation`: its members run in the client's queue together with all other requests, within the
/// client's limits. Members may share transfers with other requests. The batch waits in a queue of its own, so it occupies no
/// slot of the client's queue.
///
/// A member's failure fails the batch only with ``HTTPBatchFailurePolicy/cancelRemaining``. ``results`` holds the outcome of
/// each member. All members of this class are safe to use on any thread.
public final class HTTPBatch<Value: Sendable>: AsyncOperation, @unchecked Sendable {
    // Sendable: locks guard the mutable state.
    private let client: HTTPClientQueue
    private let members: [HTTPBatchMember<Value>]
    private let measuresFirst: Bool
    let tally: Locked<BatchTally>
    private let state = Locked(State())
    let subscribers = Broadcast<BatchProgress>()
    private let waiters = ValueWaiters()
    // The batch's only task writes this value before the batch ends. Other threads read the value after the end.
    nonisolated(unsafe) private var collected: [Result<Value, any Error>] = []

    private struct State {
        /// Whether `run()` has been called.
        var hasBegun = false
        /// Whether no further members may begin, because the batch was cancelled or has failed.
        var isOver = false
        var failure: (any Error)?
        var isPaused = false
        var running: [Int: any RequestControl] = [:]
        var last = 0
        /// The suspended task that begins the members after `resume()`.
        var waiting: CheckedContinuation<Void, Never>?
    }

    init(
        _ members: [HTTPBatchMember<Value>], client: HTTPClientQueue, measuresFirst: Bool,
        onFailure: HTTPBatchFailurePolicy
    ) {
        self.client = client
        self.members = members
        self.measuresFirst = measuresFirst
        tally = Locked(BatchTally(count: members.count, stopsAtFailure: onFailure == .cancelRemaining))
        super.init()
    }

    /// The outcome of each member, in the order of the members, available when all members have ended.
    ///
    /// Any number of tasks may await the outcomes. When the last of them is cancelled, the batch is cancelled too. Failures are `HTTPError` or the error of a policy. Members that were
    /// cancelled, and members that never began because the batch was cancelled, fail with `HTTPError`.
    public var results: [Result<Value, any Error>] {
        get async {
            // The outcomes of the members replace the outcome of the batch.
            do { try await waiters.wait(for: self) } catch { return members.map { _ in .failure(error) } }
            return collected
        }
    }

    /// The values of all members, in the order of the members.
    ///
    /// - Throws: The first failure in this order. Real failures take precedence over cancellations.
    public var values: [Value] {
        get async throws {
            let results = await results
            let failures = results.compactMap { result -> (any Error)? in
                if case .failure(let error) = result { error } else { nil }
            }
            if let failure = failures.first(where: { !HTTPError.isCancellation($0) }) ?? failures.first {
                throw failure
            }
            return try results.map { try $0.get() }
        }
    }

    // MARK: - Pausing and cancelling

    /// Cancels every member that has not ended. For a shared transfer, the batch cancels only its own handle. The batch
    /// finishes when all members have finished.
    public override func cancel() {
        let hasBegun = state.withLock { state in
            state.isOver = true
            return state.hasBegun
        }
        // Cancelled before `run()`, the batch could end before its members. In that case `run()` cancels the batch.
        if hasBegun { super.cancel() }
        stopMembers()
    }

    /// Pauses every member, and begins no further members. A shared transfer pauses only if all its other handles are paused
    /// too.
    public override func pause() { setPaused(true) }

    /// Whether the batch is paused.
    public override var isPaused: Bool { state.withLock { $0.isPaused } }

    /// Resumes every member.
    public override func resume() {
        setPaused(false)
        state.withLock { $0.waiting.take() }?.resume()
    }

    private func setPaused(_ isPaused: Bool) {
        let running = state.withLock { state in
            state.isPaused = isPaused
            return state.running
        }
        for member in running.values { applyPause(to: member) }
    }

    /// Pauses or resumes a member, repeated until the member matches the latest state.
    private func applyPause(to member: any RequestControl) {
        while true {
            let isPaused = state.withLock { $0.isPaused }
            if isPaused { member.pause() } else { member.resume() }
            if state.withLock({ $0.isPaused }) == isPaused { return }
        }
    }

    private func stopMembers() {
        let (running, waiting) = state.withLock { ($0.running, $0.waiting.take()) }
        waiting?.resume()
        for member in running.values { member.cancel() }
    }

    // MARK: - The work

    /// Runs the members. The client's queue of batches calls this method.
    public override func run() async throws {
        let isOver = state.withLock { state in
            state.hasBegun = true
            return state.isOver
        }
        if isOver { super.cancel() }
        if measuresFirst { await measure() }
        await untilResumed()
        collected = await withTaskGroup(of: (Int, Result<Value, any Error>).self) { group in
            for (index, member) in members.enumerated() {
                let running = begin(member)
                group.addTask { (index, await self.result(of: running, index)) }
            }
            var results = members.map { Result<Value, any Error>.failure(Self.cancellation(of: $0)) }
            for await (index, result) in group { results[index] = result }
            return results
        }
        reportProgress()
        subscribers.finish()
        if let failure = state.withLock({ $0.failure }) { throw failure }
    }

    /// Begins a member. Returns nil if no further members may begin.
    private func begin(_ member: HTTPBatchMember<Value>) -> HTTPBatchMember<Value>.Running? {
        guard !state.withLock({ $0.isOver }) else { return nil }
        let running = member.begin(client)
        enter(running.control)
        return running
    }

    /// Registers a running member. A later cancellation reaches the member, and an earlier cancellation is applied here.
    @discardableResult
    private func enter(_ member: any RequestControl) -> Int {
        let (number, isOver, isPaused) = state.withLock { state in
            state.last += 1
            state.running[state.last] = member
            return (state.last, state.isOver, state.isPaused)
        }
        if isOver { member.cancel() } else if isPaused { applyPause(to: member) }
        return number
    }

    private func result(
        of running: HTTPBatchMember<Value>.Running?, _ index: Int
    ) async -> Result<Value, any Error> {
        guard let running else {
            note { $0.ended(index, received: 0, .cancelled) }
            return .failure(Self.cancellation(of: members[index]))
        }
        let progressTask = Task {
            for await progress in running.operation.transferProgressUpdates {
                if tally.withLock({ $0.moved(index, received: progress.received, expected: progress.expected) }) {
                    reportProgress()
                }
            }
        }
        let result: Result<Value, any Error>
        do { result = .success(try await running.value()) } catch { result = .failure(error) }
        progressTask.cancel()
        await progressTask.value
        let received = running.operation.transferProgress.received
        switch result {
        case .success: note { $0.ended(index, received: received, .succeeded) }
        case .failure(let error):
            let isCancelled = HTTPError.isCancellation(error)
            note(error) { $0.ended(index, received: received, isCancelled ? .cancelled : .failed) }
        }
        return result
    }

    /// - Parameter body: Returns whether the remaining members must be cancelled.
    private func note(_ failure: (any Error)? = nil, _ body: (inout BatchTally) -> Bool) {
        let stops = tally.withLock { body(&$0) }
        if stops {
            state.withLock { ($0.isOver, $0.failure) = (true, failure) }
            stopMembers()
        }
        reportProgress()
    }

    private func untilResumed() async {
        await withCheckedContinuation { continuation in
            let mayContinue = state.withLock { state in
                if state.isPaused, !state.isOver {
                    state.waiting = continuation
                    return false
                }
                return true
            }
            if mayContinue { continuation.resume() }
        }
    }

    private static func cancellation(of member: HTTPBatchMember<Value>) -> HTTPError {
        HTTPError(.cancelled, url: member.url)
    }

    // MARK: - Measuring

    /// Requests the length of each body by `HEAD`, once per member.
    private func measure() async {
        await withTaskGroup { group in
            for (index, member) in members.enumerated() {
                guard !state.withLock({ $0.isOver }), let request = member.measure(client) else { continue }
                let handle = client.join(request, as: .answer, TransferDemand(.normal))
                let number = enter(handle)
                group.addTask {
                    let length = try? await handle.value.lengthOfBody
                    // The batch may have cancelled this task, which ends only the wait. Cancel the handle here, because the
                    // batch no longer finds it after `leave`.
                    handle.cancel()
                    self.leave(number)
                    if self.tally.withLock({ $0.measured(index, length) }) { self.reportProgress() }
                }
            }
        }
    }

    private func leave(_ number: Int) {
        let old = state.withLock { $0.running.removeValue(forKey: number) }
        withExtendedLifetime(old) {}
    }
}
