import Operations
import Synchronization

/// The start and the end of the command of an operation.
extension CommandOperation {
    /// Starts the command now, or as soon as a resource of the system permits it.
    func startOrWait(niceness: Int32 = 0) {
        guard !startCommand(isLastAttempt: false, niceness: niceness) else { return }
        shell.watch.send(.attempt { self.startCommand(isLastAttempt: $0, niceness: self.quality.niceness) })
    }

    /// Decides whether the command runs, and ends the operation if it is up to date.
    func isUpToDate() -> Bool {
        let journal = shell.journal
        let (decision, prepared) = journal.prepare(index, state.withLock { $0.rare.filled })
        switch decision {
        case .skip:
            var record = OperationRecord(name: planned.name, fingerprint: prepared.fingerprint, end: .succeeded)
            record.captured = prepared.captured
            if let value = prepared.captured { shell.captures.set(value, of: planned.name) }
            conclude(.upToDate, record: prepared.isDeclared ? nil : record)
            return true
        case .run(let reason):
            state.withLock { $0.prepared = PreparedBox(prepared) }
            if shell.explains { ledger.note(.explained(planned, reason.text)) }
            journal.began(index, prepared)
            return false
        }
    }

    /// Starts the command, or ends the operation if the command cannot start.
    ///
    /// - Parameters:
    ///   - isLastAttempt: Whether a short resource ends the operation.
    ///   - niceness: The number to add to the nice value of this thread.
    /// - Returns: `false` if a resource is short now and may be available later.
    private func startCommand(isLastAttempt: Bool, niceness: Int32 = 0) -> Bool {
        if isCancelled {
            conclude(.cancelled)
            return true
        }
        let jobserver = shell.watch.jobserver.withLock(\.self)
        if let jobserver {
            // While no command runs, the implied token is free, so a last attempt gets one.
            guard let job = jobserver.take() else { return false }
            state.withLock { $0.rare.job = job }
        }
        let (token, spool) = (shell.watch.makeToken(), shell.spools.makeSpool())
        if shell.streams {
            spool.notifyGrowth { [ledger, planned, unowned spool] in ledger.note(.output(planned, spool)) }
        }
        let capture = planned.settings.capture.map { name in
            CapturedOutput(alsoInto: planned.settings.usesTerminal || shell.secretNames.contains(name) ? nil : spool)
        }
        // Before the start, because the command may end at any time after it.
        state.withLock { state in
            state.token = token
            if capture != nil { state.rare.captured = nil }
        }
        let filled = state.withLock { $0.rare.filled }
        let terminal = planned.settings.usesTerminal ? shell.terminal : nil
        var command = ExecutedCommand(
            operation: filled ?? planned, token: token, niceness: niceness, spool: spool,
            started: { [self] process in
                ledger.start(planned)
                countStart()
                if let process { shell.journal.started(index, process) }
            },
            ended: { [self] end, duration in
                giveBackJob()
                if let terminal, let signal = terminal.ended(end.end) {
                    // The run gets the signal too, but later: an operation that always runs would start before.
                    markCancelled()
                    shell.cancelAllOperations(by: signal)
                }
                commandEnded(outcome(of: end, printed: spool, capture), duration, spool, token)
            })
        command.prepared = state.withLock { $0.prepared?.value }
        command.grace = planned.settings.grace ?? plan.settings.grace
        (command.capture, command.terminal) = (capture, terminal)
        do {
            try shell.executor.start(command)
        } catch {
            state.withLock { $0.token = nil }
            giveBackJob()
            if let shortage = error as? Shortage, !isLastAttempt {
                ledger.note(shortage)
                return false
            }
            let text = (error as? Shortage)?.text ?? (error as? StartFailure)?.text ?? "\(error)"
            conclude(.failed(.unstartable(text)))
            return true
        }
        // A cancellation may have come before the executor knew the token, so check again.
        if state.withLock(\.isKilled) {
            shell.executor.kill(token)
        } else if isCancelled {
            shell.executor.end(token, by: shell.stopSignal)
        }
        return true
    }

    private func giveBackJob() {
        guard let job = state.withLock({ $0.rare.job.take() }) else { return }
        shell.watch.jobserver.withLock(\.self)?.give(job)
    }

    /// Counts the first start of the command by the rate of the family. The operation holds a unit until it ends.
    private func countStart() {
        guard let rate = shell.rates[planned.family] else { return }
        let isFirst = state.withLock { state in
            defer { state.rare.isCounted = true }
            return !state.rare.isCounted
        }
        if isFirst { rate.started() }
    }

    private func outcome(
        of command: CommandEnd, printed spool: OutputSpool, _ capture: CapturedOutput?
    ) -> Outcome {
        // A cancelled command that exits with 0 has cleaned up. It has not succeeded.
        if isCancelled { return .cancelled }
        if command.hasTimedOut { return .failed(.timedOut(planned.settings.timeout ?? .zero)) }
        if spool.hasLostOutput { return .failed(.outputLost(command.end, directory: shell.spools.path)) }
        if command.end == .exit(0), let capture, let name = planned.settings.capture {
            do throws(CaptureFailure) {
                let value = try capture.value(for: name)
                state.withLock { $0.rare.captured = value }
            } catch {
                return .failed(.badCapture(error.text))
            }
        }
        return switch command.end {
        case .exit(0): .succeeded
        case .exit(let status): .failed(.exit(status))
        case .signal(let number): .failed(.signal(number))
        case .unknown(let reason): .failed(.unknown(reason))
        }
    }

    /// Handles the end of the command on the thread that waits for commands. Files are examined on another thread.
    private func commandEnded(
        _ outcome: Outcome, _ duration: Duration, _ spool: OutputSpool, _ token: ProcessWatch.Token
    ) {
        let prepared = state.withLock { $0.prepared?.value }
        let journal = shell.journal
        guard let prepared, prepared.isDeclared else {
            var record = prepared.map { prepared in
                OperationRecord(name: planned.name, fingerprint: prepared.fingerprint, end: outcome.recordEnd)
            }
            record?.captured = publishCapture(outcome)
            return conclude(orRetry: outcome, record, duration, spool, token)
        }
        journal.files.addOperation { [self] in
            var (outcome, record) = journal.settle(index, prepared, outcome)
            record.captured = publishCapture(outcome)
            conclude(orRetry: outcome, record, duration, spool, token)
        }
    }

    /// Stores the captured output of a command that succeeded, for the operations after it.
    ///
    /// - Returns: The value for the record. `nil` if there is none, and for a value with a secret.
    private func publishCapture(_ outcome: Outcome) -> String? {
        guard outcome == .succeeded, let name = planned.settings.capture,
            let value = state.withLock({ $0.rare.captured })
        else {
            return nil
        }
        if shell.secretNames.contains(name) { shell.spools.mask(value) }
        shell.captures.set(value, of: planned.name)
        return shell.spools.isSecret(value) ? nil : value
    }
}

extension Outcome {
    fileprivate var recordEnd: OperationRecord.End {
        switch self {
        case .succeeded, .upToDate: .succeeded
        case .cancelled: .cancelled
        default: .failed
        }
    }
}
