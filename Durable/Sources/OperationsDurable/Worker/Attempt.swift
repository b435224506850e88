import DurableCore
import Operations

/// One attempt of a durable operation, as an operation of a local queue.
final class Attempt: AsyncOperation, @unchecked Sendable {
    // Sendable: constants, and state behind a lock.

    /// The reason for a cancellation of the attempt by the worker.
    enum Stop: Sendable {
        /// A caller requested the cancellation of the durable operation.
        case cancelRequest
        /// The worker lost the lease, and reports nothing.
        case lostLease
        /// The worker stops, and releases the operation.
        case shutdown
    }

    /// The life of the attempt until its end.
    private enum Phase: Sendable {
        case unstarted
        case started(ContinuousClock.Instant)
        /// The attempt was withdrawn or cancelled before its start, and never starts.
        case skipped
    }

    let lease: Lease
    /// The place of the claim among all claims of the worker.
    let ordinal: Int
    let queueName: String
    /// The instant at which the worker received the claim.
    let claimedAt = ContinuousClock.now
    private let claim: Claim
    private let runner: OperationRunner
    private let state: AttemptState
    private let stop = Locked<Stop?>(nil)
    private let phase = Locked(Phase.unstarted)
    /// Receives the completion of the attempt; nil if the store expects none.
    private let report: @Sendable (Attempt, Completion?) -> Void

    init(
        _ claim: Claim, ordinal: Int, lease: Lease, runner: OperationRunner, store: any DurableStore,
        report: @escaping @Sendable (Attempt, Completion?) -> Void
    ) {
        (self.claim, self.ordinal, self.lease, self.runner, self.report) = (claim, ordinal, lease, runner, report)
        queueName = claim.queue
        state = AttemptState(claim, lease: lease, store: store)
        super.init()
        name = claim.name
    }

    /// The context of the caller that added the durable operation.
    var context: String? { claim.row.context }

    /// Cancels the attempt. The first reason counts, except that a lost lease replaces other reasons.
    func stop(because reason: Stop) {
        stop.withLock { stop in if stop == nil || reason == .lostLease { stop = reason } }
        // Before the cancellation, which the operation may catch.
        if reason == .lostLease { state.interrupt(DurableError.leaseLost(lease.operation)) }
        cancel()
    }

    /// The time since the start; nil for an attempt that has not started.
    var age: Duration? {
        phase.withLock { phase in
            if case .started(let start) = phase { ContinuousClock.now - start } else { nil }
        }
    }

    /// Returns the claim to the store unless the attempt has started. The attempt then never starts.
    func withdraw() {
        guard leaveStart(to: .skipped) else { return }
        finish(.withdrawn)
        cancel()
    }

    /// Returns whether the attempt had neither started nor been skipped.
    private func leaveStart(to next: Phase) -> Bool {
        phase.withLock { phase in
            guard case .unstarted = phase else { return false }
            phase = next
            return true
        }
    }

    override func run() async throws {
        // A withdrawal may precede the start and follow the check for cancellation.
        guard leaveStart(to: .started(.now)) else { return }
        do {
            let output = try await work()
            finish(.succeeded(output: output))
        } catch is DurableSuspension {
            // The attempt has released its lease, and is no failure.
            finish(.released)
        } catch let control as DurableControl {
            finish(result(of: control))
        } catch {
            finish(result(of: error))
            throw error
        }
    }

    override func runWasSkipped() {
        // The attempt was cancelled before its start. A withdrawn attempt has reported its end.
        guard leaveStart(to: .skipped) else { return }
        finish(stop.withLock { $0 } == .cancelRequest ? .cancelled : .released)
    }

    private func finish(_ result: Completion.Result) {
        let isExpected = !state.isDone && stop.withLock { $0 } != .lostLease
        report(self, isExpected ? Completion(lease: lease, result: result) : nil)
    }

    private func work() async throws -> [UInt8] {
        try await CommitHint.$operations.withValue([lease.operation]) { try await workWithinLimit() }
    }

    private func workWithinLimit() async throws -> [UInt8] {
        let context = DurableContext(attempt: state)
        guard let timeout = limit else { return try await runner.run(claim.input, context) }
        return try await withThrowingTaskGroup(of: [UInt8].self) { group in
            group.addTask { [runner, claim] in try await runner.run(claim.input, context) }
            group.addTask {
                try await OperationClock().sleep(for: timeout)
                throw AttemptTimeout(limit: timeout)
            }
            defer { group.cancelAll() }
            guard let output = try await group.next() else { throw CancellationError() }
            return output
        }
    }

    /// The time limit: that of the attempt, or the rest until the deadline.
    private var limit: Duration? {
        let timeout = claim.row.timeout.map { Duration.microseconds($0) }
        guard let deadline = claim.row.deadline else { return timeout }
        return min(timeout ?? deadline - claim.now, deadline - claim.now)
    }

    private func result(of error: any Error) -> Completion.Result {
        switch error {
        case is CancellationError:
            switch stop.withLock({ $0 }) {
            case .shutdown: return .released
            case .cancelRequest, .lostLease, nil: return .cancelled
            }
        case DurableControl.snooze(let delay): return .snoozed(delay)
        case DurableControl.discard(let reason): return .discarded(reason: reason)
        // The database is away, which is no failure of the operation.
        case DurableError.unavailable: return .snoozed(.seconds(1))
        case let error as OperationRunner.UndecodableInput:
            return .failed(reason: "\(error.cause)", isRetryable: false)
        case let error as DurableError where error.isPermanent: return .failed(reason: "\(error)", isRetryable: false)
        default: return .failed(reason: "\(error)", isRetryable: runner.permitsRetry(error))
        }
    }
}

/// The failure of an attempt that exceeded its time limit.
public struct AttemptTimeout: Error, Sendable, Hashable, CustomStringConvertible {
    /// The time limit.
    public let limit: Duration

    public var description: String { "the attempt exceeded its time limit of \(limit)" }
}

extension DurableError {
    /// Whether another attempt would fail in the same way.
    fileprivate var isPermanent: Bool {
        switch self {
        case .historyMismatch, .payloadTooLarge, .invalidValue, .invalidName, .cycle: true
        default: false
        }
    }
}
