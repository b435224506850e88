import Operations
import Synchronization

/// An event of a run.
public enum RunEvent: Sendable {
    /// The command of an operation is about to start.
    case started(PlannedOperation)
    /// An operation ended. The spool holds the output of its command, if the command was started.
    case ended(Conclusion, OutputSpool?)
    /// An operation waits for a system resource that is exhausted. Each kind of resource is reported once.
    case short(String)
    /// An operation runs for a reason, as the text says. Such events come only if the options of the run ask for them.
    case explained(PlannedOperation, String)
    /// A command failed and will run again.
    case retrying(PlannedOperation, String)
    /// A running command has written output. Such events come only if the options of the run ask for them.
    case output(PlannedOperation, OutputSpool)
    /// The items of a family are known now. The operations with the items will run.
    case expanded(PlannedOperation, into: [PlannedOperation])
    /// All operations of an expanded family have ended.
    case familyEnded(PlannedOperation)
}

/// The reaction of a run to the failure of an operation. The raw values are the names on the command line.
public enum StopPolicy: String, CaseIterable, Sendable {
    /// The commands that run are ended, and no others start.
    case now
    /// The commands that run continue, and no others start.
    case soon
    /// All operations run that do not come after the failed one.
    case never
}

/// A record of the results of a run, which passes the events of the run to a handler one at a time.
final class RunLedger: Sendable {
    private struct State {
        var conclusions: [Conclusion?]
        /// The results of `firstUnsuccessful(in:)` for families. Each member of another family may ask for the same result.
        private var known: [Range<Int>: Int?] = [:]

        init(conclusions: [Conclusion?]) { self.conclusions = conclusions }

        /// Returns the first of the operations that is an obstacle. All of them must have ended.
        mutating func firstObstacle(in awaited: Range<Int>) -> Int? {
            if let known = known[awaited] { return known }
            let first = awaited.first { index in
                guard let conclusion = conclusions[index] else { return true }
                return !conclusion.outcome.isSuccess && !conclusion.isTolerated
            }
            if awaited.count > 1 { known[awaited] = .some(first) }
            return first
        }
    }

    private let state: Mutex<State>
    private let events: OperationQueue
    private let handler: @Sendable (RunEvent) -> Bool
    private let stopPolicy: StopPolicy
    private let reportsStarts: Bool
    private let reportsSkips: Bool
    private let shortages = Mutex<[Shortage]>([])
    private let cancellation = Mutex<(@Sendable () -> Void)?>(nil)
    private let stop = Mutex<(@Sendable () -> Void)?>(nil)
    /// The journal of the run. Set before the run.
    private let journal = Mutex<RunJournal?>(nil)

    /// Creates an empty ledger.
    ///
    /// - Parameters:
    ///   - stopPolicy: The reaction to a failure.
    ///   - reportsStarts: Whether the handler receives the starts of operations, and the ends of those that are up to date.
    ///   - reportsSkips: Whether the handler receives the ends of operations that were skipped or not needed.
    ///   - handler: A function that receives every event. If the function returns `false`, the run is cancelled.
    init(
        operationCount: Int, stopPolicy: StopPolicy = .never, reportsStarts: Bool = true, reportsSkips: Bool = true,
        handler: @escaping @Sendable (RunEvent) -> Bool
    ) {
        state = Mutex(State(conclusions: Array(repeating: nil, count: operationCount)))
        events = OperationQueue()
        events.maxConcurrentOperationCount = 1
        // A thread that works for queues of different names changes its name each time, by a system call.
        events.name = QueueDescription.defaultName
        self.stopPolicy = stopPolicy
        self.reportsStarts = reportsStarts
        self.reportsSkips = reportsSkips
        self.handler = handler
    }

    /// Creates the ledger of the members of a family that were found during the run. Its events are those of the run.
    init(ofFamilyIn run: RunLedger, operationCount: Int) {
        state = Mutex(State(conclusions: Array(repeating: nil, count: operationCount)))
        (events, handler, stopPolicy) = (run.events, run.handler, run.stopPolicy)
        (reportsStarts, reportsSkips) = (run.reportsStarts, run.reportsSkips)
        cancelRun { run.cancelRun() }
        stopRun { run.stopRun() }
    }

    /// Records the result of a family whose members have ended, without an event.
    func settle(_ conclusion: Conclusion, at index: Int) { state.withLock { $0.conclusions[index] = conclusion } }

    /// The results of the operations that have ended so far.
    var conclusions: [Conclusion?] { state.withLock(\.conclusions) }

    /// Sets the action that cancels the run.
    func cancelRun(by action: @escaping @Sendable () -> Void) {
        cancellation.withLock { $0 = action }
    }

    /// Sets the action that stops the run after a failure.
    func stopRun(by action: @escaping @Sendable () -> Void) { stop.withLock { $0 = action } }

    /// Sets the journal that records the ends of operations.
    func record(in journal: RunJournal) { self.journal.withLock { $0 = journal } }

    /// Returns the outcome of an operation that must not run, because of the outcomes of its dependencies or of a barrier.
    func obstacle(to operation: PlannedOperation, in plan: WorkflowPlan) -> Outcome? {
        state.withLock { state in
            let barrier = operation.barrierAhead.map { [($0..<$0 + 1, "barrier")] } ?? []
            var unneeded: Outcome?
            for (awaited, kind) in operation.awaited.map({ ($0, "dependency") }) + barrier {
                guard let index = state.firstObstacle(in: awaited) else { continue }
                let name = plan.operations[index].name
                switch state.conclusions[index]?.outcome {
                case .failed, .skipped:
                    let isFailure = if case .failed = state.conclusions[index]?.outcome { true } else { false }
                    guard operation.settings.condition == .success else { return nil }
                    return .skipped("\(kind) \(name) \(isFailure ? "failed" : "was skipped")")
                case .unneeded:
                    if operation.settings.condition == .success {
                        unneeded = unneeded ?? .unneeded("\(kind) \(name) was not needed")
                    }
                // A failure has stopped the run. An operation for that case runs nevertheless.
                default:
                    guard operation.settings.condition == .success else { return nil }
                    return .cancelled
                }
            }
            return unneeded ?? (operation.settings.condition == .failure ? .unneeded("no dependency failed") : nil)
        }
    }

    /// Passes the start of an operation to the handler, if the handler receives starts.
    func start(_ operation: PlannedOperation) {
        guard reportsStarts else { return }
        events.addOperation { self.notify(.started(operation)) }
    }

    /// Passes a shortage to the handler, the first time that this shortage occurs.
    func note(_ shortage: Shortage) {
        let isNew = shortages.withLock { shortages in
            defer { if !shortages.contains(shortage) { shortages.append(shortage) } }
            return !shortages.contains(shortage)
        }
        if isNew { events.addOperation { self.notify(.short(shortage.text)) } }
    }

    /// Passes the reason why an operation runs, or runs again, to the handler.
    func note(_ event: RunEvent) { events.addOperation { self.notify(event) } }

    /// Records the result of an operation, passes it to the handler, and then calls the closure. The operation finishes in
    /// the closure, so slow output delays the operations that produce it.
    func end(
        _ conclusion: Conclusion, at index: Int, spool: OutputSpool?, record: OperationRecord?,
        completion: @escaping @Sendable () -> Void
    ) {
        state.withLock { $0.conclusions[index] = conclusion }
        if case .failed = conclusion.outcome, !conclusion.isTolerated, stopPolicy != .never {
            stopRun()
        }
        let journal = journal.withLock(\.self)
        let isShown =
            switch conclusion.outcome {
            case .upToDate: reportsStarts
            case .skipped, .unneeded: reportsSkips
            case .succeeded, .failed, .cancelled: true
            }
        if !isShown {
            // No other thread is needed.
            journal?.ended(index, conclusion, record, spool)
            return completion()
        }
        events.addOperation {
            journal?.ended(index, conclusion, record, spool)
            self.notify(.ended(conclusion, spool))
            completion()
        }
    }

    /// Waits until all events were handled, and returns the results of `operations`. Operations that never started count as
    /// cancelled.
    func allConclusions(of operations: [PlannedOperation]) -> [Conclusion] {
        events.waitUntilAllOperationsAreFinished()
        return state.withLock { state in
            zip(operations, state.conclusions).map { $1 ?? Conclusion(name: $0.name, outcome: .cancelled) }
        }
    }

    private func stopRun() { stop.withLock { $0.take() }?() }

    private func notify(_ event: RunEvent) {
        if !handler(event) { cancelRun() }
    }

    /// Cancels the run, once. A cancellation looks at all operations, and each event may ask for it.
    private func cancelRun() {
        cancellation.withLock { $0.take() }?()
    }
}
