import OperationsFoundation

/// An operation that finishes in `start()`, without `main()`.
final class StartedByItself: Operation, @unchecked Sendable {
    // Sendable: only the starting thread sets the flag, and it announces the end afterwards.
    private var isDone = false

    override var isFinished: Bool { isDone }

    override func start() {
        willChangeValue(forKey: "isFinished")
        isDone = true
        didChangeValue(forKey: "isFinished")
    }
}
