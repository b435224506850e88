import Dispatch
import Glibc
import Operations
public import OperationsTrace

/// How a plan is to be run.
public struct RunOptions: Sendable {
    /// The width of queues that have none in the file; `nil` stands for the number of processors.
    public var jobs: Int?
    /// Whether the first failure cancels the rest.
    public var failsFast = false
    /// How many commands may run at a time, whatever the widths; `nil` stands for what the limit of descriptors allows.
    public var commands: Int?

    /// Options for a run.
    public init(jobs: Int? = nil, failsFast: Bool = false) {
        self.jobs = jobs
        self.failsFast = failsFast
    }
}

/// Why a run cannot begin.
public struct RunFailure: Error, CustomStringConvertible {
    /// The reason in words.
    public let description: String

    /// No thread can be started.
    public static var noThread: RunFailure { RunFailure(description: Shortage.processes.text) }
}

/// One run of a plan, on operation queues.
///
/// Every queue of the workflow is an `OperationQueue`, every operation an operation in it that depends on
/// those it comes after. A barrier is a barrier block: when all that was queued before it in its queue has
/// finished, it waits for what it comes after in other queues, while its own queue stands still, and then for its
/// command. What comes before a barrier need only have finished; unless it is named in `after`, it may have failed.
/// What is queued behind a barrier is skipped if that one does not succeed.
public final class WorkflowRun: Sendable {
    private let plan: WorkflowPlan
    private let ledger: RunLedger
    private let queues: [String: OperationQueue]
    private let operations: [CommandOperation]
    private let watch: ProcessWatch

    /// Follows the run by observing its operations.
    ///
    /// - Parameter changed: Called after each change, on the thread that made it.
    public func progress(changed: @escaping @Sendable (RunProgress) -> Void) -> RunProgress {
        RunProgress(of: operations, changed: changed)
    }

    /// Records the operations of the run. Call it before ``run()``.
    public func record(in trace: OperationTrace) {
        for (operation, planned) in zip(operations, plan.operations) { trace.record(operation, asIn: planned.queue) }
    }

    /// Prepares a run; nothing starts before ``run()``.
    ///
    /// - Parameter handler: Called with every event of the run, one at a time; when it returns `false`, the run
    ///   is cancelled.
    /// - Throws: `RunFailure` if there are not enough descriptors, threads or space to begin with.
    public init(_ plan: WorkflowPlan, options: RunOptions, handler: @escaping @Sendable (RunEvent) -> Bool) throws {
        let ledger = RunLedger(
            operationCount: plan.operations.count, failsFast: options.failsFast, handler: handler)
        self.plan = plan
        self.ledger = ledger
        let start = try RunStart(plan, options: options)
        watch = start.watch
        queues = Dictionary(uniqueKeysWithValues: plan.queues.map { ($0.name, OperationQueue($0, jobs: options.jobs)) })
        let shell = CommandShell(ledger: ledger, watch: start.watch, spools: start.spools)
        operations = plan.operations.indices.map { CommandOperation($0, of: plan, shell: shell) }
        if let requirement = start.requirement {
            for (operation, planned) in zip(operations, plan.operations) where !planned.isBarrier {
                operation.addRequirement(requirement)
            }
        }
        ledger.cancelRun(by: { [weak self] in self?.cancel() })
        enqueue()
    }

    deinit {
        watch.send(.stop)
    }

    /// Runs the workflow and waits for its end.
    public func run() -> RunResult {
        let clock = ContinuousClock()
        let start = clock.now
        let processorTime = Duration.processorTimeOfChildren
        for queue in queues.values { queue.isSuspended = false }
        for queue in queues.values { queue.waitUntilAllOperationsAreFinished() }
        return RunResult(
            conclusions: ledger.allConclusions(of: plan.operations), wallTime: clock.now - start,
            processorTime: .processorTimeOfChildren - processorTime)
    }

    /// Cancels what has not started and asks what runs to end, within ``ProcessGroup/grace``.
    ///
    /// ``run()`` returns when the last command is gone.
    public func cancel() {
        for queue in queues.values { queue.cancelAllOperations() }
        // What is in the queue for a barrier is its block. The operation itself may be waited for by a barrier of
        // another queue, so it has to finish even if its block has been dropped.
        for (operation, planned) in zip(operations, plan.operations) where planned.isBarrier {
            operation.cancel()
            operation.start()
        }
    }

    /// Cancels, and ends what runs at once.
    public func kill() {
        cancel()
        for operation in operations { operation.kill() }
    }

    /// Stops all commands, as Ctrl-Z does, and starts no other. Returns when that is done.
    ///
    /// Time limits of the run stand still until ``resume()``.
    public func pause() {
        for queue in queues.values { queue.isSuspended = true }
        waitForWatch { .pause($0) }
    }

    /// Continues all commands, and starts others again.
    public func resume() {
        waitForWatch { .resume($0) }
        for queue in queues.values { queue.isSuspended = false }
    }

    private func waitForWatch(_ message: (@escaping @Sendable () -> Void) -> ProcessWatch.Message) {
        let isDone = DispatchSemaphore(value: 0)
        watch.send(message { isDone.signal() })
        isDone.wait()
    }

    /// Queues all operations in the order of the plan.
    private func enqueue() {
        for (operation, planned) in zip(operations, plan.operations) {
            for index in planned.dependencies { operation.addDependency(operations[index]) }
        }
        for (operation, planned) in zip(operations, plan.operations) {
            guard planned.isBarrier else {
                queues[planned.queue]?.addOperation(operation)
                continue
            }
            queues[planned.queue]?.addBarrierBlock {
                for dependency in operation.dependencies { dependency.waitUntilFinished() }
                operation.start()
                operation.waitUntilFinished()
            }
        }
    }
}

extension OperationQueue {
    /// A suspended queue as described, `jobs` wide if its width is left open.
    fileprivate convenience init(_ description: QueueDescription, jobs: Int?) {
        self.init()
        name = description.name
        maxConcurrentOperationCount = description.width(jobs: jobs)
        qualityOfService = description.quality.qualityOfService
        // All operations are to be in it before the first one is chosen by its priority.
        isSuspended = true
    }
}

extension Quality {
    fileprivate var qualityOfService: QualityOfService {
        switch self {
        case .userInteractive: .userInteractive
        case .userInitiated: .userInitiated
        case .default: .default
        case .utility: .utility
        case .background: .background
        }
    }
}

extension Duration {
    /// The processor time that ended children of this process, and theirs, have used.
    fileprivate static var processorTimeOfChildren: Duration {
        var usage = rusage()
        getrusage(RUSAGE_CHILDREN.rawValue, &usage)
        return [usage.ru_utime, usage.ru_stime].reduce(.zero) {
            $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec)
        }
    }
}
