import Operations
import Synchronization

/// Further runs of a command that failed.
extension CommandOperation {
    /// Runs the command again if the retries of the operation permit it, and otherwise ends the operation.
    func conclude(
        orRetry outcome: Outcome, _ record: OperationRecord?, _ duration: Duration, _ spool: OutputSpool,
        _ token: ProcessWatch.Token
    ) {
        let attempt = state.withLock(\.attempt)
        guard case .failed(let failure) = outcome, !isCancelled,
            let delay = planned.settings.retries.delay(after: failure, attempt: attempt)
        else {
            state.withLock { $0.token = nil }
            return conclude(outcome, duration: duration, spool: spool, record: record)
        }
        state.withLock { $0.attempt += 1 }
        let again =
            "\(RunReport.text(of: failure)); run \(attempt + 1) of \(planned.settings.retries.count + 1) in \(delay.seconds)"
        ledger.note(.retrying(planned, again))
        let start: @Sendable () -> Void = { [self] in
            state.withLock { $0.token = nil }
            guard let rate = shell.rates[planned.family], !isCancelled else {
                return startOrWait(niceness: quality.niceness)
            }
            // The operation keeps its own unit, which stands for its first start.
            let repetition = BlockOperation { [self] in
                // A cancellation may have ended the operation meanwhile.
                guard state.withLock({ $0.rare.repetition.take() }) != nil else { return }
                rate.started()
                startOrWait(niceness: quality.niceness)
                rate.released()
            }
            repetition.addRequirement(rate.requirement)
            state.withLock { $0.rare.repetition = repetition }
            shell.repetitions.addOperation(repetition)
            if isCancelled { endRepetition() }
        }
        shell.watch.send(.wait(token, delay, start))
        // A cancellation may have come before the watch knew the wait.
        if isCancelled { shell.watch.end(token, by: shell.stopSignal) }
    }

    /// Ends a cancelled operation that waits for the rate of its family to run its command again.
    func endRepetition() {
        guard let repetition = state.withLock({ $0.rare.repetition.take() }) else { return }
        repetition.cancel()
        conclude(.cancelled)
    }
}

extension Retries {
    /// Returns the pause before the next run of a command, or `nil` if the command does not run again.
    ///
    /// - Parameter attempt: The number of the failed run, from 1.
    func delay(after failure: Outcome.Failure, attempt: Int) -> Duration? {
        if let statuses {
            guard case .exit(let status) = failure, statuses.contains(status) else { return nil }
        } else {
            switch failure {
            // A command whose end is unknown may still run.
            case .unstartable, .unknown: return nil
            default: break
            }
        }
        let policy = RetryPolicy(
            retries: count, backoff: .exponential(delay, factor: factor, cap: .seconds(86_400)), jitter: .none)
        guard policy.permitsRetry(after: attempt, CommandFailure(failure: failure)) else { return nil }
        return policy.delay(beforeRetry: attempt)
    }
}
