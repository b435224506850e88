import Operations
import TestSupport

/// An asynchronous operation in the classic style: its own state, announced by string keys.
class AsynchronousOperation: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }

    private let state = Guarded(State.waiting)

    /// Called by `start`. The operation continues until `finish()`.
    var onStart: (@Sendable (AsynchronousOperation) -> Void)?

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0 == .executing } }
    override var isFinished: Bool { state.withLock { $0 == .finished } }

    override func start() {
        if isCancelled { return finish() }
        willChangeValue(forKey: "isExecuting")
        state.withLock { $0 = .executing }
        didChangeValue(forKey: "isExecuting")
        onStart?(self)
    }

    func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        state.withLock { $0 = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
