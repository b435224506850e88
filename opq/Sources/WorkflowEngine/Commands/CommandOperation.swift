import Operations
import Synchronization

/// An operation that runs a shell command and holds no thread while the command runs.
///
/// A second call of `start()` has no effect. A cancelled operation never runs its command.
final class CommandOperation: Operation, @unchecked Sendable {
    enum Phase { case waiting, executing, finished }

    struct State {
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

    struct Rare {
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
    final class PreparedBox: Sendable {
        let value: RunJournal.Prepared

        init(_ value: RunJournal.Prepared) { self.value = value }
    }

    let index: Int
    let shell: CommandShell
    /// Whether the operation was found during the run, as a member of a family. The operation that stands for the family has
    /// waited for all others.
    let isMember: Bool
    let state = Mutex(State())
    /// The ends of families that this operation is a member of. Set before the run.
    var families: [FamilyEnd] = []

    /// The operation of the plan.
    var planned: PlannedOperation { _read { yield shell.plan.operations[index] } }
    var plan: WorkflowPlan { _read { yield shell.plan } }
    var ledger: RunLedger { shell.ledger }
    var quality: Quality { plan.queues.first { $0.name == planned.queue }?.quality ?? .default }

    /// Creates the operation at `index` of the plan of `shell`.
    init(_ index: Int, shell: CommandShell, isMember: Bool = false) {
        self.isMember = isMember
        self.index = index
        self.shell = shell
        super.init()
        if planned.priority != .normal { queuePriority = planned.priority.queuePriority }
    }

    /// The name in the plan. It is never set.
    override var name: String? {
        get { planned.name }
        set {}
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
    func markCancelled() { super.cancel() }

    // MARK: - The end

    /// Calls `body` with the running command. If the command waits for a resource that is short, the watch retries its start.
    func notify(_ body: (ProcessWatch.Token) -> Void) {
        let (phase, token) = state.withLock { ($0.phase, $0.token) }
        guard phase == .executing else { return }
        if let token { body(token) } else { shell.watch.send(.attemptNow) }
    }

    /// Ends the operation: records the outcome, and then announces the end.
    func conclude(
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

    /// Announces the end, which is recorded.
    func finish() {
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
