import CProcess
import Dispatch
import Glibc
import Operations
public import OperationsTimeline
import Synchronization

/// The place in which the commands of a run are executed. The raw values are the names on the command line.
public enum RunPlace: String, CaseIterable, Sendable {
    /// This machine.
    case local
    /// A cluster on which Slurm runs.
    case slurm
}

/// Options for running a plan.
public struct RunOptions: Sendable {
    /// The concurrency limit of queues for which the file sets none. `nil` stands for the number of processors.
    public var jobs: Int?
    /// The reaction to the failure of an operation.
    public var stopPolicy = StopPolicy.never
    /// The number of commands that may run at the same time in all queues together. `nil` stands for the number that the
    /// system's limits of descriptors and processes allow.
    public var commands: Int?
    /// Whether the handler of the run receives the starts of operations, and the ends of those that are up to date.
    public var reportsStarts = true
    /// Whether the handler of the run receives the ends of operations that were skipped or not needed.
    public var reportsSkips = true
    /// Whether this process becomes the parent of orphans of commands. It reaps them, and ends them when the run is cancelled.
    /// All children that this process starts must belong to the run then.
    public var adoptsOrphans = false
    /// The place in which the commands are executed.
    public var place = RunPlace.local
    /// A function that receives a line about jobs on a cluster. It is called on any thread.
    public var note: (@Sendable (String) -> Void)?
    /// The store to which the run is recorded. `nil` if the workflow has no file.
    public var store: RunStore?
    /// The contents of the workflow file.
    public var fileBytes: [UInt8] = []
    /// The part of the workflow for which the run was asked, as the store records it.
    public var choice = RunChoice()
    /// Whether all operations run, also those that are up to date.
    public var isForced = false
    /// Whether operations that succeeded in the last run of the store are done.
    public var resumes = false
    /// Whether the handler of the run receives the reasons why operations run.
    public var explains = false
    /// Whether the handler of the run receives the output of running commands.
    public var streams = false
    /// The terminal for the operations that use it. By default, the standard streams of this process.
    public var terminal = TerminalHandover()

    /// Creates options for a run.
    public init(jobs: Int? = nil, stopPolicy: StopPolicy = .never) {
        self.jobs = jobs
        self.stopPolicy = stopPolicy
    }
}

/// The reason why a run cannot begin.
public struct RunFailure: Error, CustomStringConvertible {
    /// A description of the reason.
    public let description: String

    /// The failure of a run for which the system can start no thread.
    public static var noThread: RunFailure { RunFailure(description: Shortage.processes.text) }
}

/// A run of a plan on operation queues.
///
/// Every queue of the workflow is an `OperationQueue`. Every operation of the workflow is an operation in that queue, which
/// depends on the operations in its `after` key.
///
/// A barrier also depends on the operations queued before it in its queue, and the operations queued after it depend on the
/// barrier. The operations queued before it may have failed, unless the barrier names them in `after`. If the barrier does not
/// succeed, the operations queued after it are skipped. A barrier block would hold a thread while it waits for its dependencies
/// in other queues.
public final class WorkflowRun: Sendable {
    private let plan: WorkflowPlan
    private let ledger: RunLedger
    private let queues: [String: OperationQueue]
    private let operations: [CommandOperation]
    private let shell: CommandShell
    private let slurm: SlurmRun?
    /// Notes for the user about the resources of the run.
    public let notes: [String]
    private var watch: ProcessWatch { shell.watch }

    /// Records the operations of the run in `trace`. Call this method before ``run()``.
    public func record(in trace: OperationTimeline) {
        shell.host.trace.withLock { $0 = trace }
        for (operation, planned) in zip(operations, plan.operations) where planned.growth == nil {
            trace.record(operation, asIn: planned.queue)
        }
    }

    /// Prepares a run. No command starts before ``run()``.
    ///
    /// - Parameter handler: A function that receives every event of the run, one at a time. If the function returns
    ///   `false`, the run is cancelled.
    /// - Throws: `RunFailure` if the system has too few descriptors, threads or temporary space for a run.
    public init(_ plan: WorkflowPlan, options: RunOptions, handler: @escaping @Sendable (RunEvent) -> Bool) throws {
        let ledger = RunLedger(
            operationCount: plan.operations.count, stopPolicy: options.stopPolicy, reportsStarts: options.reportsStarts,
            reportsSkips: options.reportsSkips, handler: handler)
        self.plan = plan
        self.ledger = ledger
        var options = options
        let isLocal = options.place == .local
        // The commands of a cluster are no processes of this machine.
        if !isLocal { options.commands = .max }
        let start = try RunStart(plan, options: options)
        let watch = start.watch
        let resources: RunResources
        do throws(RunFailure) {
            resources = try RunResources(plan, on: options.place) { watch.send(.wait(watch.makeToken(), $0, $1)) }
            let note = options.note ?? { _ in }
            if isLocal, let store = options.store { try SlurmLeft.clear(store, start.watch, note) }
            slurm =
                isLocal
                ? nil : try SlurmRun(plan, in: options.store, resumes: options.resumes, start.watch, note: note)
        } catch {
            start.watch.send(.stop)
            throw error
        }
        if let slurm { options.jobs = options.jobs ?? slurm.jobs }
        notes = start.notes + (isLocal ? [] : SlurmBatch.notes(plan, jobs: options.jobs ?? 1))
        var queues = Dictionary(
            uniqueKeysWithValues: plan.queues.map { queue in
                // A queue may have as many threads as operations, and a thread counts as a process.
                let limit = min(queue.concurrency(jobs: options.jobs), start.commands)
                return (queue.name, OperationQueue(queue, limit: limit))
            })
        if plan.growsDuringRun {
            queues[RunHost.familyQueue] = OperationQueue(QueueDescription(name: "opq-families"), limit: .max)
        }
        self.queues = queues
        let host = RunHost(queues: queues, resources: resources, requirement: start.requirement)
        let journal = RunJournal(of: plan, in: options.store, isForced: options.isForced, resumes: options.resumes)
        ledger.record(in: journal)
        journal.begin(file: Digest(of: options.fileBytes), options.choice)
        let shell = CommandShell(
            plan, options, start, slurm?.executor ?? start.watch, host, rates: resources.rates, ledger: ledger,
            journal: journal)
        self.shell = shell
        operations = plan.operations.indices.map { CommandOperation($0, shell: shell) }
        for operation in operations { host.prepare(operation) }
        ledger.cancelRun(by: { [weak self] in self?.cancel() })
        ledger.stopRun(by: { [weak self, endsCommands = options.stopPolicy == .now] in
            self?.stop(endsCommands: endsCommands)
        })
        enqueue()
    }

    deinit {
        watch.send(.stop)
    }

    /// Runs the workflow, and blocks the calling thread until all operations have ended.
    public func run() -> RunResult {
        let clock = ContinuousClock()
        let start = clock.now
        let processorTime = Duration.processorTimeOfChildren
        for queue in queues.values { queue.isSuspended = false }
        for queue in queues.values { queue.waitUntilAllOperationsAreFinished() }
        waitForWatch { .awaitOrphans($0) }
        var results = Array(zip(plan.operations, ledger.allConclusions(of: plan.operations)))
        if plan.growsDuringRun {
            results = zip(operations, results).flatMap { operation, result in
                operation.family.map { Array(zip($0.plan.operations, $0.conclusions)) } ?? [result]
            }
        }
        let conclusions = results.map(\.1)
        let failure = shell.journal.end(isInterrupted: conclusions.contains { $0.outcome == .cancelled })
        slurm?.finish()
        return RunResult(
            conclusions: conclusions, operations: results.map(\.0), recordFailure: failure, wallTime: clock.now - start,
            processorTime: .processorTimeOfChildren - processorTime)
    }

    /// Cancels the operations that have not started, and sends a signal to running commands. Commands that still run after
    /// ``ProcessGroup/grace`` are killed.
    ///
    /// ``run()`` returns when the last command has ended.
    public func cancel(by signal: Int32 = 15) {
        watch.send(.endOrphans(signal: signal))
        shell.cancelAllOperations(by: signal)
    }

    /// Cancels the operations that have not started, except those that have to run after a failure.
    ///
    /// - Parameter endsCommands: Whether running commands get a signal.
    private func stop(endsCommands: Bool) {
        if endsCommands { watch.send(.endOrphans(signal: SIGTERM)) }
        for operation in operations where operation.planned.settings.condition == .success {
            if endsCommands { operation.cancel() } else { operation.halt() }
        }
    }

    /// Cancels the run, and kills the running commands at once.
    public func kill() {
        cancel()
        watch.send(.endOrphans(signal: SIGKILL))
        for operation in operations { operation.kill() }
    }

    /// Stops all commands, as Ctrl-Z does, and starts no others. Returns when all commands have received the signal.
    ///
    /// The time limits of the run do not advance until ``resume()``.
    public func pause() {
        for queue in queues.values { queue.isSuspended = true }
        waitForWatch { .pause($0) }
    }

    /// Continues all commands, and resumes the queues.
    public func resume() {
        waitForWatch { .resume($0) }
        for queue in queues.values { queue.isSuspended = false }
    }

    private func waitForWatch(_ message: (@escaping @Sendable () -> Void) -> ProcessWatch.Message) {
        let isDone = DispatchSemaphore(value: 0)
        watch.send(message { isDone.signal() })
        isDone.wait()
    }

    /// Adds all operations to their queues in the order of the plan.
    ///
    /// Operations that come after a family depend on the end of the family. Dependencies between the members of two families would
    /// be as many as the product of their sizes.
    private func enqueue() {
        var ends: [Range<Int>: FamilyEnd] = [:]
        func awaitable(_ awaited: Range<Int>) -> Operation {
            if awaited.count == 1 { return operations[awaited.lowerBound] }
            if let end = ends[awaited] { return end }
            let end = FamilyEnd(memberCount: awaited.count)
            for member in operations[awaited] { member.families.append(end) }
            ends[awaited] = end
            return end
        }
        let barriers = BarrierOrder(plan.operations)
        for (index, operation) in operations.enumerated() {
            // An operation may be named twice, which has no effect.
            for awaited in plan.operations[index].awaited where !awaited.isEmpty {
                operation.addDependency(awaitable(awaited))
            }
            for index in barriers.gathered[index] ?? [] { operation.addDependency(operations[index]) }
            if let barrier = barriers.ahead[index] { operation.addDependency(operations[barrier]) }
        }
        for operation in operations { shell.host.add(operation) }
    }
}

extension OperationQueue {
    /// Creates a suspended queue from a description.
    fileprivate convenience init(_ description: QueueDescription, limit: Int) {
        self.init()
        name = description.name
        maxConcurrentOperationCount = limit
        qualityOfService = description.quality.qualityOfService
        // The queue chooses the first operation by priority, so all operations must be in the queue before it starts one.
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
    /// The processor time of all ended child processes and of their children.
    fileprivate static var processorTimeOfChildren: Duration { .microseconds(cprocess_time_of_children()) }
}
