import Glibc
import Operations
import Synchronization

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
