import Operations
import Synchronization

/// How far a run is, as observed from its operations.
public struct RunStatus: Sendable, Equatable {
    /// How many operations there are.
    public var total: Int
    /// How many have ended, in whatever way.
    public var ended = 0
    /// The names of those that run, the one that runs longest first.
    public var running: [String] = []

    /// The status in a line of at most so many columns of a terminal.
    public func line(columns: Int) -> String {
        let count = String(total)
        let ended = String(ended)
        var line = "[" + String(repeating: " ", count: count.count - ended.count) + ended + "/" + count + "]"
        for name in running {
            // Of a thousand names the first few fill the line.
            if line.count > columns { break }
            line += (name == running.first ? " " : ", ") + name.visible
        }
        return line.columnCount <= columns ? line : line.prefix(columns: max(columns - 1, 0)) + "…"
    }
}

/// Keeps the status of operations by observing them.
public final class RunProgress: Sendable {
    private struct State {
        var status: RunStatus
        var isRunning: Set<ObjectIdentifier> = []
        var isEnded: Set<ObjectIdentifier> = []
    }

    private let state: Mutex<State>
    private let tokens = Mutex<[NSKeyValueObservation]>([])

    /// The status now.
    public var status: RunStatus { state.withLock(\.status) }

    /// Observes operations until the object is released.
    ///
    /// - Parameter changed: Called after each change, on the thread that made it.
    init(of operations: [Operation], changed: @escaping @Sendable (RunProgress) -> Void) {
        state = Mutex(State(status: RunStatus(total: operations.count)))
        let new = operations.flatMap { operation in
            [
                operation.observe(\.isExecuting) { [weak self] operation, _ in self?.note(operation, changed) },
                operation.observe(\.isFinished) { [weak self] operation, _ in self?.note(operation, changed) },
            ]
        }
        tokens.withLock { $0 = new }
    }

    private func note(_ operation: Operation, _ changed: (RunProgress) -> Void) {
        let (isFinished, isExecuting) = (operation.isFinished, operation.isExecuting)
        let isNews = state.withLock { state in
            let id = ObjectIdentifier(operation)
            let name = operation.name ?? ""
            if isExecuting, !state.isEnded.contains(id), state.isRunning.insert(id).inserted {
                state.status.running.append(name)
                return true
            }
            guard isFinished, state.isEnded.insert(id).inserted else { return false }
            state.status.ended += 1
            if state.isRunning.remove(id) != nil, let index = state.status.running.firstIndex(of: name) {
                state.status.running.remove(at: index)
            }
            return true
        }
        if isNews { changed(self) }
    }
}
