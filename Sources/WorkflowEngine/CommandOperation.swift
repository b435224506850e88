import Operations
import Synchronization

/// An operation that runs a shell command without holding a thread meanwhile.
///
/// It may be started more than once; only the first time counts. A cancelled one never runs its command.
final class CommandOperation: Operation, @unchecked Sendable {
    private enum Phase { case waiting, executing, finished }

    private struct State {
        var phase = Phase.waiting
        var task: Task<Void, Never>?
        var group: ProcessGroup?
        var cancellationTime: ContinuousClock.Instant?
        var isKilled = false
    }

    private let index: Int
    private let plan: WorkflowPlan
    private let ledger: RunLedger
    private let state = Mutex(State())

    private var planned: PlannedOperation { plan.operations[index] }

    /// The operation at `index` of `plan`.
    init(_ index: Int, of plan: WorkflowPlan, ledger: RunLedger) {
        self.index = index
        self.plan = plan
        self.ledger = ledger
        super.init()
        name = plan.operations[index].name
        queuePriority = plan.operations[index].priority.queuePriority
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
        if isCancelled {
            conclude(.cancelled)
        } else if let obstacle = ledger.obstacle(to: planned, in: plan) {
            conclude(obstacle)
        } else {
            let task = Task { await self.runCommand() }
            state.withLock { $0.task = task }
            // A cancellation since the test above found no task to cancel.
            if isCancelled { task.cancel() }
        }
    }

    override func cancel() {
        super.cancel()
        let task = state.withLock { state in
            state.cancellationTime = state.cancellationTime ?? ContinuousClock().now
            return state.task
        }
        task?.cancel()
    }

    /// Ends the command and all in its group at once.
    func kill() {
        cancel()
        state.withLock { state in
            state.isKilled = true
            state.group?.kill()
        }
    }

    private func runCommand() async {
        let spool: OutputSpool
        do {
            spool = try OutputSpool()
        } catch {
            return conclude(.failed(.unstartable("no temporary file: \(error)")))
        }
        ledger.start(planned)
        let clock = ContinuousClock()
        let start = clock.now
        let outcome = await ShellCommand(operation: planned).run(into: spool) { group in
            state.withLock { state in
                state.group = group
                if state.isKilled { group.kill() }
            }
        } deadline: {
            state.withLock { $0.cancellationTime ?? clock.now } + ProcessGroup.grace
        }
        state.withLock { $0.group = nil }
        // Once asked to end, a command that exits with 0 has tidied up rather than succeeded.
        conclude(isCancelled ? .cancelled : outcome, duration: clock.now - start, spool: spool)
    }

    private func conclude(_ outcome: Outcome, duration: Duration? = nil, spool: OutputSpool? = nil) {
        switch outcome {
        case .succeeded: break
        case .failed(let failure): reportFailure(CommandFailure(failure: failure))
        case .skipped, .cancelled: reportFailure(CancellationError())
        }
        let conclusion = Conclusion(name: planned.name, outcome: outcome, duration: duration)
        ledger.end(conclusion, at: index, spool: spool) { self.finish() }
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { state in
            state.phase = .finished
            state.task = nil
        }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

/// Why the operation of a command failed, for whoever looks at it as an operation.
private struct CommandFailure: Error, CustomStringConvertible {
    let failure: Outcome.Failure

    var description: String { RunReport.text(of: failure) }
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
