import Operations
import Synchronization

/// Something that happens in a run.
public enum RunEvent: Sendable {
    /// The command of an operation is about to start.
    case started(PlannedOperation)
    /// An operation has ended; the spool holds what it printed, if it was started.
    case ended(Conclusion, OutputSpool?)
    /// An operation waits for something of which the system has none left, said once of each kind.
    case short(String)
}

/// Keeps the conclusions of a run, and tells of its events one at a time.
final class RunLedger: Sendable {
    private let conclusions: Mutex<[Conclusion?]>
    private let events = OperationQueue()
    private let handler: @Sendable (RunEvent) -> Bool
    private let failsFast: Bool
    private let shortages = Mutex<[Shortage]>([])
    private let cancellation = Mutex<(@Sendable () -> Void)?>(nil)

    /// A ledger without conclusions.
    ///
    /// - Parameters:
    ///   - failsFast: Whether a failure cancels the run.
    ///   - handler: Called with every event; when it returns `false`, the run is cancelled.
    init(operationCount: Int, failsFast: Bool, handler: @escaping @Sendable (RunEvent) -> Bool) {
        conclusions = Mutex(Array(repeating: nil, count: operationCount))
        events.maxConcurrentOperationCount = 1
        self.failsFast = failsFast
        self.handler = handler
    }

    /// Makes `action` what cancels the run.
    func cancelRun(by action: @escaping @Sendable () -> Void) {
        cancellation.withLock { $0 = action }
    }

    /// Why an operation cannot succeed any more, given the ends of those it depends on.
    func obstacle(to operation: PlannedOperation, in plan: WorkflowPlan) -> Outcome? {
        conclusions.withLock { conclusions in
            let barrier = operation.barrierAhead.map { [($0, "barrier")] } ?? []
            for (index, kind) in operation.dependencies.map({ ($0, "dependency") }) + barrier {
                let name = plan.operations[index].name
                switch conclusions[index]?.outcome {
                case .succeeded: continue
                case .failed: return .skipped("\(kind) \(name) failed")
                case .skipped: return .skipped("\(kind) \(name) was skipped")
                case .cancelled, nil: return .cancelled
                }
            }
            return nil
        }
    }

    /// Tells that an operation starts.
    func start(_ operation: PlannedOperation) {
        events.addOperation { self.tell(.started(operation)) }
    }

    /// Tells that an operation waits for something that is short.
    func note(_ shortage: Shortage) {
        let isNew = shortages.withLock { shortages in
            defer { if !shortages.contains(shortage) { shortages.append(shortage) } }
            return !shortages.contains(shortage)
        }
        if isNew { events.addOperation { self.tell(.short(shortage.text)) } }
    }

    /// Takes down how an operation ended and tells of it.
    ///
    /// - Parameter told: Called when it has been told, so that slow output holds up the operations that make it.
    func end(_ conclusion: Conclusion, at index: Int, spool: OutputSpool?, told: @escaping @Sendable () -> Void) {
        conclusions.withLock { $0[index] = conclusion }
        if failsFast, case .failed = conclusion.outcome { cancelRun() }
        events.addOperation {
            self.tell(.ended(conclusion, spool))
            told()
        }
    }

    /// The conclusions of `operations` once all events have been told; what never started was cancelled.
    func allConclusions(of operations: [PlannedOperation]) -> [Conclusion] {
        events.waitUntilAllOperationsAreFinished()
        return conclusions.withLock { conclusions in
            zip(operations, conclusions).map { $1 ?? Conclusion(name: $0.name, outcome: .cancelled) }
        }
    }

    private func tell(_ event: RunEvent) {
        if !handler(event) { cancelRun() }
    }

    private func cancelRun() {
        cancellation.withLock(\.self)?()
    }
}
