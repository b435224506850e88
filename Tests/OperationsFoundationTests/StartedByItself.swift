import OperationsFoundation

/// Finishes in `start()`, without `main()`.
final class StartedByItself: Operation, @unchecked Sendable {
    // Sendable: set once, by the one thread that starts it, before it is announced.
    private var isDone = false

    override var isFinished: Bool { isDone }

    override func start() {
        willChangeValue(forKey: "isFinished")
        isDone = true
        didChangeValue(forKey: "isFinished")
    }
}
