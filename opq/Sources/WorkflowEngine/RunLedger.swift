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
}

/// A record of the results of a run, which passes the events of the run to a handler one at a time.
final class RunLedger: Sendable {
    private let conclusions: Mutex<[Conclusion?]>
    private let events = OperationQueue()
    private let handler: @Sendable (RunEvent) -> Bool
    private let failsFast: Bool
    private let shortages = Mutex<[Shortage]>([])
    private let cancellation = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates an empty ledger.
    ///
    /// - Parameters:
    ///   - failsFast: Whether a failure cancels the run.
    ///   - handler: A function that receives every event. If the function returns `false`, the run is cancelled.
    init(operationCount: Int, failsFast: Bool, handler: @escaping @Sendable (RunEvent) -> Bool) {
        conclusions = Mutex(Array(repeating: nil, count: operationCount))
        events.maxConcurrentOperationCount = 1
        self.failsFast = failsFast
        self.handler = handler
    }

    /// Sets the action that cancels the run.
    func cancelRun(by action: @escaping @Sendable () -> Void) {
        cancellation.withLock { $0 = action }
    }

    /// Returns the outcome of an operation that must not run, because a dependency or a barrier did not succeed.
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

    /// Passes the start of an operation to the handler.
    func start(_ operation: PlannedOperation) {
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

    /// Records the result of an operation, passes it to the handler, and then calls the closure. The operation finishes in
    /// the closure, so slow output delays the operations that produce it.
    func end(_ conclusion: Conclusion, at index: Int, spool: OutputSpool?, completion: @escaping @Sendable () -> Void) {
        conclusions.withLock { $0[index] = conclusion }
        if failsFast, case .failed = conclusion.outcome { cancelRun() }
        events.addOperation {
            self.notify(.ended(conclusion, spool))
            completion()
        }
    }

    /// Waits until all events were handled, and returns the results of `operations`. Operations that never started count as
    /// cancelled.
    func allConclusions(of operations: [PlannedOperation]) -> [Conclusion] {
        events.waitUntilAllOperationsAreFinished()
        return conclusions.withLock { conclusions in
            zip(operations, conclusions).map { $1 ?? Conclusion(name: $0.name, outcome: .cancelled) }
        }
    }

    private func notify(_ event: RunEvent) {
        if !handler(event) { cancelRun() }
    }

    /// Cancels the run, once. A cancellation looks at all operations, and each event may ask for it.
    private func cancelRun() {
        cancellation.withLock { $0.take() }?()
    }
}
