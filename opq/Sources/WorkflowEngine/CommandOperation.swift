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
        private var rareBox: RareBox?

        /// The values that few operations have.
        var rare: Rare {
            get { rareBox?.value ?? Rare() }
            set {
                if rareBox == nil { rareBox = RareBox() }
                rareBox?.value = newValue
            }
        }
    }

    private struct Rare {
        /// The operation with the values of its captured variables. `nil` for an operation without any.
        var filled: PlannedOperation?
        /// The token of a jobserver, which the operation holds while its command runs.
        var job: Jobserver.Token?
        /// The value of the captured output of the last run of the command.
        var captured: String?
        /// Whether a start of the command is counted by the rate of the family.
        var isCounted = false
        /// The start of the command that waits for the rate of the family.
        var repetition: Operation?
        /// The members of the family for which the operation stands, as soon as they are known.
        var family: FamilyRun?
    }

    /// The box of the rare values. The lock of the state guards it.
    private final class RareBox: @unchecked Sendable {
        var value = Rare()
    }

    /// Most operations of a large plan have not started, or never run, so their states stay small.
    private final class PreparedBox: Sendable {
        let value: RunJournal.Prepared

        init(_ value: RunJournal.Prepared) { self.value = value }
    }

    private let index: Int
    private let shell: CommandShell
    /// Whether the operation was found during the run, as a member of a family. The operation that stands for the family has
    /// waited for all others.
    private let isMember: Bool
    private let state = Mutex(State())
    /// The ends of families that this operation is a member of. Set before the run.
    var families: [FamilyEnd] = []

    /// The operation of the plan.
    var planned: PlannedOperation { _read { yield shell.plan.operations[index] } }
    private var plan: WorkflowPlan { _read { yield shell.plan } }
    private var ledger: RunLedger { shell.ledger }
    private var quality: Quality { plan.queues.first { $0.name == planned.queue }?.quality ?? .default }

    /// Creates the operation at `index` of the plan of `shell`.
    init(_ index: Int, shell: CommandShell, isMember: Bool = false) {
        self.isMember = isMember
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
        if !isCancelled, !isMember, let obstacle = ledger.obstacle(to: planned, in: plan) { return conclude(obstacle) }
        if !isCancelled, let growth = planned.growth { return grow(growth) }
        if !isCancelled {
            do throws(CaptureFailure) {
                let filled = try shell.captures.filled(planned)
                if !planned.captured.isEmpty { state.withLock { $0.rare.filled = filled } }
            } catch {
                return conclude(.failed(.unstartable(error.text)))
            }
            if isUpToDate() { return }
        }
        startOrWait()
    }

    /// Starts the command now, or as soon as a resource of the system permits it.
    private func startOrWait(niceness: Int32 = 0) {
        guard !startCommand(isLastAttempt: false, niceness: niceness) else { return }
        shell.watch.send(.attempt { self.startCommand(isLastAttempt: $0, niceness: self.quality.niceness) })
    }

    override func cancel() {
        super.cancel()
        notify { shell.executor.end($0, by: shell.stopSignal) }
        endRepetition()
        family?.forEach { $0.cancel() }
    }

    /// Cancels the operation unless it has started.
    func halt() {
        family?.forEach { $0.halt() }
        guard state.withLock({ $0.phase == .waiting }) else { return }
        // A start in this moment sees the cancellation, or its command ends by a signal.
        cancel()
    }

    /// Cancels the operation, and kills all processes in the command's process group at once.
    func kill() {
        state.withLock { $0.isKilled = true }
        super.cancel()
        notify { shell.executor.kill($0) }
        endRepetition()
        family?.forEach { $0.kill() }
    }

    /// Cancels the operation without a signal to its command, which has ended.
    private func markCancelled() { super.cancel() }

    // MARK: - Families

    /// The members of the family for which this operation stands. `nil` for an operation with a command, and until they are known.
    var family: FamilyRun? { state.withLock { $0.rare.family } }

    /// Finds the members of the family for which this operation stands, and runs them. This operation ends with the last one.
    private func grow(_ growth: FamilyGrowth) {
        // On a thread that may wait for a disk.
        shell.journal.files.addOperation { [self] in
            var members: [PlannedOperation]
            do throws(GrowthFailure) {
                members = try growth.operations()
            } catch {
                return conclude(.failed(.noItems(error.text)))
            }
            if isCancelled { return conclude(.cancelled) }
            for index in members.indices { members[index].captured = planned.captured }
            let family = FamilyRun(members, of: index, in: plan, shell) { [weak self] in self?.familyEnded() }
            state.withLock { $0.rare.family = family }
            ledger.note(.expanded(planned, into: members))
            if members.isEmpty { return familyEnded() }
            family.start(in: shell.host)
            // A cancellation may have come before the members were known.
            if isCancelled { family.forEach { $0.cancel() } }
        }
    }

    private func familyEnded() {
        guard let family else { return }
        if family.journal.hasRun { shell.journal.assumesRun(of: index) }
        family.journal.recordRead()
        if planned.settings.capture != nil {
            let values = family.plan.operations.compactMap { shell.captures.value(of: $0.name) }
            shell.captures.set(values.joined(separator: "\n"), of: planned.name)
        }
        ledger.settle(family.conclusion(named: planned.name), at: index)
        ledger.note(.familyEnded(planned))
        finish()
    }

    // MARK: - The command

    /// Calls `body` with the running command. If the command waits for a resource that is short, the watch retries its start.
    private func notify(_ body: (ProcessWatch.Token) -> Void) {
        let (phase, token) = state.withLock { ($0.phase, $0.token) }
        guard phase == .executing else { return }
        if let token { body(token) } else { shell.watch.send(.attemptNow) }
    }

    /// Decides whether the command runs, and ends the operation if it is up to date.
    private func isUpToDate() -> Bool {
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
    private func endRepetition() {
        guard let repetition = state.withLock({ $0.rare.repetition.take() }) else { return }
        repetition.cancel()
        conclude(.cancelled)
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
        let isCounted = state.withLock { state in
            state.phase = .finished
            return state.rare.isCounted
        }
        // Before the queue returns the unit.
        if isCounted { shell.rates[planned.family]?.released() }
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
    /// The decisions and records of the run.
    let journal: RunJournal
    /// Whether the handler of the run receives the reasons why operations run.
    let explains: Bool
    /// The values of captured variables.
    let captures: CapturedVariables
    /// Whether the handler of the run receives the output of running commands.
    let streams: Bool
    /// The terminal for the operations that use it.
    let terminal: TerminalHandover
    /// The limits of starts, by the names of the families.
    let rates: [String: StartRate]
    /// The names of variables whose values are secret.
    let secretNames: Set<String>
    /// The objects with which operations are added to the run.
    let host: RunHost
    /// The shell of the run, for the members of a family that were found during the run.
    private let run: CommandShell?
    /// The queue of repeated starts that wait for the rate of their family.
    let repetitions = OperationQueue()
    private let signal = Atomic<Int32>(SIGTERM)

    /// The signal that asks the commands of cancelled operations to end.
    var stopSignal: Int32 { run?.stopSignal ?? signal.load(ordering: .sequentiallyConsistent) }

    /// Cancels all operations of the run. Their commands get the signal.
    func cancelAllOperations(by signal: Int32) {
        (run ?? self).signal.store(signal, ordering: .sequentiallyConsistent)
        host.cancelAllOperations()
    }

    init(
        _ plan: WorkflowPlan, _ options: RunOptions, _ start: RunStart, _ executor: any CommandExecutor,
        _ host: RunHost,
        rates: [String: StartRate], ledger: RunLedger, journal: RunJournal
    ) {
        (self.plan, self.executor) = (plan, executor)
        (self.host, run) = (host, nil)
        (self.ledger, watch, spools, self.journal) = (ledger, start.watch, start.spools, journal)
        (explains, streams, terminal) = (options.explains, options.streams, options.terminal)
        captures = CapturedVariables(of: plan) { journal.captured(of: $0) }
        (self.rates, secretNames) = (rates, Set(plan.settings.secrets))
    }

    /// Creates the shell of the members of a family that were found during the run.
    init(ofFamilyIn run: CommandShell, _ plan: WorkflowPlan, ledger: RunLedger, journal: RunJournal) {
        (self.plan, executor) = (plan, run.executor)
        (self.run, self.ledger, self.journal) = (run, ledger, journal)
        (watch, spools, explains, streams, terminal) = (run.watch, run.spools, run.explains, run.streams, run.terminal)
        (captures, rates, secretNames, host) = (run.captures, run.rates, run.secretNames, run.host)
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
