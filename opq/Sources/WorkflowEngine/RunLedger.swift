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
    private struct State {
        var conclusions: [Conclusion?]
        /// The results of `firstUnsuccessful(in:)` for families. Each member of another family may ask for the same result.
        private var known: [Range<Int>: Int?] = [:]

        init(conclusions: [Conclusion?]) { self.conclusions = conclusions }

        /// Returns the first of the operations that did not succeed. All of them must have ended.
        mutating func firstUnsuccessful(in awaited: Range<Int>) -> Int? {
            if let known = known[awaited] { return known }
            let first = awaited.first { conclusions[$0]?.outcome != .succeeded }
            if awaited.count > 1 { known[awaited] = .some(first) }
            return first
        }
    }

    private let state: Mutex<State>
    private let events = OperationQueue()
    private let handler: @Sendable (RunEvent) -> Bool
    private let failsFast: Bool
    private let reportsStarts: Bool
    private let shortages = Mutex<[Shortage]>([])
    private let cancellation = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates an empty ledger.
    ///
    /// - Parameters:
    ///   - failsFast: Whether a failure cancels the run.
    ///   - reportsStarts: Whether the handler receives the starts of operations.
    ///   - handler: A function that receives every event. If the function returns `false`, the run is cancelled.
    init(
        operationCount: Int, failsFast: Bool, reportsStarts: Bool = true,
        handler: @escaping @Sendable (RunEvent) -> Bool
    ) {
        state = Mutex(State(conclusions: Array(repeating: nil, count: operationCount)))
        events.maxConcurrentOperationCount = 1
        self.failsFast = failsFast
        self.reportsStarts = reportsStarts
        self.handler = handler
    }

    /// Sets the action that cancels the run.
    func cancelRun(by action: @escaping @Sendable () -> Void) {
        cancellation.withLock { $0 = action }
    }

    /// Returns the outcome of an operation that must not run, because a dependency or a barrier did not succeed.
    func obstacle(to operation: PlannedOperation, in plan: WorkflowPlan) -> Outcome? {
        state.withLock { state in
            let barrier = operation.barrierAhead.map { [($0..<$0 + 1, "barrier")] } ?? []
            for (awaited, kind) in operation.awaited.map({ ($0, "dependency") }) + barrier {
                guard let index = state.firstUnsuccessful(in: awaited) else { continue }
                let name = plan.operations[index].name
                switch state.conclusions[index]?.outcome {
                case .failed: return .skipped("\(kind) \(name) failed")
                case .skipped: return .skipped("\(kind) \(name) was skipped")
                default: return .cancelled
                }
            }
            return nil
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

    /// Records the result of an operation, passes it to the handler, and then calls the closure. The operation finishes in
    /// the closure, so slow output delays the operations that produce it.
    func end(_ conclusion: Conclusion, at index: Int, spool: OutputSpool?, completion: @escaping @Sendable () -> Void) {
        state.withLock { $0.conclusions[index] = conclusion }
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
        return state.withLock { state in
            zip(operations, state.conclusions).map { $1 ?? Conclusion(name: $0.name, outcome: .cancelled) }
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
