import Operations
import Synchronization

/// The progress of a run, as observed from its operations.
public struct RunStatus: Sendable, Equatable {
    /// The number of operations in the run.
    public var total: Int
    /// The number of operations that ended, with any outcome.
    public var ended = 0
    /// The names of the running operations. The operation that started first comes first.
    public var running: [String] = []

    /// Returns the status as a line of at most `columns` terminal columns.
    public func line(columns: Int) -> String {
        let count = String(total)
        let ended = String(ended)
        var line = "[" + String(repeating: " ", count: count.count - ended.count) + ended + "/" + count + "]"
        for name in running {
            // The first few names fill the line, so the loop need not join all names.
            if line.count > columns { break }
            line += (name == running.first ? " " : ", ") + name.visible
        }
        return line.columnCount <= columns ? line : line.prefix(columns: max(columns - 1, 0)) + "…"
    }
}

/// An observer that keeps the status of the operations of a run.
public final class RunProgress: Sendable {
    private struct State {
        var status: RunStatus
        var isRunning: Set<ObjectIdentifier> = []
        var isEnded: Set<ObjectIdentifier> = []
    }

    private let state: Mutex<State>
    private let observations = Mutex<[NSKeyValueObservation]>([])

    /// The current status.
    public var status: RunStatus { state.withLock(\.status) }

    /// Creates an observer. The observation ends when the object is released.
    ///
    /// - Parameter changed: A function that is called after each change, on the thread that made the change.
    init(of operations: [Operation], changed: @escaping @Sendable (RunProgress) -> Void) {
        state = Mutex(State(status: RunStatus(total: operations.count)))
        let new = operations.flatMap { operation in
            [
                operation.observe(\.isExecuting) { [weak self] operation, _ in self?.note(operation, changed) },
                operation.observe(\.isFinished) { [weak self] operation, _ in self?.note(operation, changed) },
            ]
        }
        observations.withLock { $0 = new }
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
