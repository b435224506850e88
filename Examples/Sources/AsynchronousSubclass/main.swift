// An asynchronous operation: `start()` only sets something going and returns. So the operation keeps its state itself, and
// announces every change of it; its queue listens, and waits with the next operation until `isFinished` was announced.
import OperationsFoundation

/// Rings after a while. No thread waits meanwhile.
final class Alarm: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }

    // Sendable: the state is guarded by the lock, the rest is constant.
    private let lock = NSLock()
    private var state = State.waiting
    private let delay: DispatchTimeInterval

    init(_ name: String, after delay: DispatchTimeInterval) {
        self.delay = delay
        super.init()
        self.name = name
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { state == .executing } }
    override var isFinished: Bool { lock.withLock { state == .finished } }

    // Instead of `main()`, and without `super.start()`.
    override func start() {
        guard !isCancelled else { return finish() }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { state = .executing }
        didChangeValue(forKey: "isExecuting")
        print("\(name ?? "?") is set")
        DispatchQueue.global().asyncAfter(deadline: .now() + delay) {
            print("\(self.name ?? "?") rings")
            self.finish()
        }
    }

    private func finish() {
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock { state = .finished }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}

let queue = OperationQueue()
queue.maxConcurrentOperationCount = 2

// Two at a time: the third is set when the first has rung.
queue.addOperation(Alarm("first alarm", after: .milliseconds(100)))
queue.addOperation(Alarm("second alarm", after: .milliseconds(250)))
queue.addOperation(Alarm("third alarm", after: .milliseconds(50)))

queue.waitUntilAllOperationsAreFinished()
print("all alarms have rung")
