// An asynchronous operation: `start()` starts a timer and returns. So the operation stores its state itself, and announces
// every change of the state. Its queue frees the slot when the operation has announced `isFinished`.
import OperationsFoundation

/// An operation that rings after a delay, without blocking a thread.
final class Alarm: Operation, @unchecked Sendable {
    private enum State { case waiting, executing, finished }

    // Sendable: the lock guards the state, and the other properties are constant.
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

    // Replaces `main()`, and does not call `super.start()`.
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

// Two run at a time: the third alarm is set after the first has rung.
queue.addOperation(Alarm("first alarm", after: .milliseconds(100)))
queue.addOperation(Alarm("second alarm", after: .milliseconds(250)))
queue.addOperation(Alarm("third alarm", after: .milliseconds(50)))

queue.waitUntilAllOperationsAreFinished()
print("all alarms have rung")
