import Glibc
import Operations
import OperationsTimeline
import Synchronization

/// An operation that runs a shell command and holds no thread while the command runs.
///
/// A second call of `start()` has no effect. A cancelled operation never runs its command.
final class CommandOperation: Operation, @unchecked Sendable {
    private enum Phase { case waiting, executing, finished }

    private struct State {
        var phase = Phase.waiting
        /// Identifies the command to the process watch, from the start of the command to its end.
        var token: ProcessWatch.Token?
        var isKilled = false
        /// The number of the current run of the command, from 1.
        var attempt = 1
        /// The files before the command. `nil` until the operation has decided to run.
        var prepared: PreparedBox?
    }

    /// Most operations of a large plan have not started, or never run, so their states stay small.
    private final class PreparedBox: Sendable {
        let value: RunJournal.Prepared

        init(_ value: RunJournal.Prepared) { self.value = value }
    }

    private let index: Int
    private let shell: CommandShell
    private let state = Mutex(State())
    /// The ends of families that this operation is a member of. Set before the run.
    var families: [FamilyEnd] = []

    /// The operation of the plan.
    var planned: PlannedOperation { _read { yield shell.plan.operations[index] } }
    private var plan: WorkflowPlan { _read { yield shell.plan } }
    private var ledger: RunLedger { shell.ledger }
    private var quality: Quality { plan.queues.first { $0.name == planned.queue }?.quality ?? .default }

    /// Creates the operation at `index` of the plan of `shell`.
    init(_ index: Int, shell: CommandShell) {
        self.index = index
        self.shell = shell
        super.init()
        name = planned.name
        queuePriority = planned.priority.queuePriority
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.phase == .executing } }
    override var isFinished: Bool { state.withLock { $0.phase == .finished } }

    override func start() {
        willChangeValue(forKey: "isExecuting")
        let isFirst = state.withLock { state in
            guard state.phase == .waiting else { return false }
            state.phase = .executing
            return true
        }
        didChangeValue(forKey: "isExecuting")
        guard isFirst else { return }
        if !isCancelled, let obstacle = ledger.obstacle(to: planned, in: plan) {
            conclude(obstacle)
        } else if isCancelled || !isUpToDate(), !startCommand(isLastAttempt: false) {
            shell.watch.send(.attempt { self.startCommand(isLastAttempt: $0, niceness: self.quality.niceness) })
        }
    }

    override func cancel() {
        super.cancel()
        notify { shell.executor.end($0, by: shell.stopSignal) }
    }

    /// Cancels the operation unless it has started.
    func halt() {
        guard state.withLock({ $0.phase == .waiting }) else { return }
        // A start in this moment sees the cancellation, or its command ends by a signal.
        cancel()
    }

    /// Cancels the operation, and kills all processes in the command's process group at once.
    func kill() {
        state.withLock { $0.isKilled = true }
        super.cancel()
        notify { shell.executor.kill($0) }
    }

    /// Calls `body` with the running command. If the command waits for a resource that is short, the watch retries its start.
    private func notify(_ body: (ProcessWatch.Token) -> Void) {
        let (phase, token) = state.withLock { ($0.phase, $0.token) }
        guard phase == .executing else { return }
        if let token { body(token) } else { shell.watch.send(.attemptNow) }
    }

    /// Decides whether the command runs, and ends the operation if it is up to date.
    private func isUpToDate() -> Bool {
        guard let journal = shell.journal else { return false }
        let (decision, prepared) = journal.prepare(index)
        switch decision {
        case .skip:
            let record = OperationRecord(name: planned.name, fingerprint: prepared.fingerprint, end: .succeeded)
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
        let (token, spool) = (shell.watch.makeToken(), shell.spools.makeSpool())
        // Before the start, because the command may end at any time after it.
        state.withLock { $0.token = token }
        var command = ExecutedCommand(
            operation: planned, token: token, niceness: niceness, spool: spool,
            started: { [self] process in
                ledger.start(planned)
                if let process { shell.journal?.started(index, process) }
            },
            ended: { [self] end, duration in
                commandEnded(outcome(of: end, printed: spool), duration, spool, token)
            })
        command.prepared = state.withLock { $0.prepared?.value }
        command.grace = planned.settings.grace ?? plan.settings.grace
        do {
            try shell.executor.start(command)
        } catch {
            state.withLock { $0.token = nil }
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

    private func outcome(of command: CommandEnd, printed spool: OutputSpool) -> Outcome {
        // A cancelled command that exits with 0 has cleaned up. It has not succeeded.
        if isCancelled { return .cancelled }
        if command.hasTimedOut { return .failed(.timedOut(planned.settings.timeout ?? .zero)) }
        if spool.hasLostOutput { return .failed(.outputLost(command.end, directory: shell.spools.path)) }
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
        guard let journal = shell.journal, let prepared, prepared.isDeclared else {
            let record = prepared.map { prepared in
                OperationRecord(name: planned.name, fingerprint: prepared.fingerprint, end: outcome.recordEnd)
            }
            return conclude(orRetry: outcome, record, duration, spool, token)
        }
        journal.files.addOperation { [self] in
            let (outcome, record) = journal.settle(index, prepared, outcome)
            conclude(orRetry: outcome, record, duration, spool, token)
        }
    }

    /// Runs the command again if the retries of the operation permit it, and otherwise ends the operation.
    private func conclude(
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
            if !startCommand(isLastAttempt: false, niceness: quality.niceness) {
                shell.watch.send(.attempt { self.startCommand(isLastAttempt: $0, niceness: self.quality.niceness) })
            }
        }
        shell.watch.send(.wait(token, delay, start))
        // A cancellation may have come before the watch knew the wait.
        if isCancelled { shell.watch.end(token, by: shell.stopSignal) }
    }

    private func conclude(
        _ outcome: Outcome, duration: Duration? = nil, spool: OutputSpool? = nil, record: OperationRecord? = nil
    ) {
        switch outcome {
        case .succeeded, .upToDate: break
        case .failed(let failure): reportFailure(CommandFailure(failure: failure))
        case .skipped(let reason): reportFailure(CommandSkipped(reason: "skipped: \(reason)"))
        case .unneeded(let reason): reportFailure(CommandSkipped(reason: "not needed: \(reason)"))
        case .cancelled: reportFailure(CancellationError())
        }
        let isFailure = if case .failed = outcome { true } else { false }
        let conclusion = Conclusion(
            name: planned.name, outcome: outcome, duration: duration,
            isTolerated: isFailure && planned.settings.mayFail)
        ledger.end(conclusion, at: index, spool: spool, record: record) { self.finish() }
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0.phase = .finished }
        // Before the announcement, after which this operation leaves its queue. The dependents of the family then take part in
        // the choice of the next operation.
        for family in families { family.memberHasEnded() }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// The objects that all operations of a run share.
final class CommandShell: Sendable {
    /// The plan of the run.
    let plan: WorkflowPlan
    /// The ledger that records how the operations end.
    let ledger: RunLedger
    /// The watch that waits for the commands of the operations.
    let watch: ProcessWatch
    /// The place in which the commands run.
    let executor: any CommandExecutor
    /// The directory of the files that hold the output of the commands.
    let spools: SpoolDirectory
    /// The decisions and records of the run. `nil` for a run without up-to-date checks.
    let journal: RunJournal?
    /// Whether the handler of the run receives the reasons why operations run.
    let explains: Bool
    private let signal = Atomic<Int32>(SIGTERM)

    /// The signal that asks the commands of cancelled operations to end.
    var stopSignal: Int32 {
        get { signal.load(ordering: .sequentiallyConsistent) }
        set { signal.store(newValue, ordering: .sequentiallyConsistent) }
    }

    init(
        plan: WorkflowPlan, ledger: RunLedger, watch: ProcessWatch, executor: any CommandExecutor,
        spools: SpoolDirectory,
        journal: RunJournal?, explains: Bool
    ) {
        self.plan = plan
        (self.ledger, self.watch, self.executor, self.spools) = (ledger, watch, executor, spools)
        (self.journal, self.explains) = (journal, explains)
    }
}

/// The error of a failed command, as observers of the operation see it.
private struct CommandFailure: Error, CustomStringConvertible {
    let failure: Outcome.Failure

    var description: String { RunReport.text(of: failure) }
}

/// The reason why a command was skipped, as the trace of the operation shows it.
private struct CommandSkipped: OperationTimeline.Ending {
    let reason: String

    var ending: String { reason }
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

extension Quality {
    /// The number that a queue adds to the nice value of its commands, as to that of its threads.
    var niceness: Int32 {
        switch self {
        case .userInteractive, .userInitiated, .default: 0
        case .utility: 5
        case .background: 10
        }
    }
}

extension Priority {
    fileprivate var queuePriority: Operation.QueuePriority {
        switch self {
        case .veryLow: .veryLow
        case .low: .low
        case .normal: .normal
        case .high: .high
        case .veryHigh: .veryHigh
        }
    }
}
