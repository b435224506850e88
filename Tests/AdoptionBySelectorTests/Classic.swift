// The fourth way in: a module selector wherever a name is used. It settles that one use.
import Foundation
import Operations

/// Classic: runs its work in `main()` and looks at `isCancelled` on the way.
final class Summing: Operations::Operation, @unchecked Sendable {
    // Sendable: `sum` is written by `main()` and read by who waited for the end.
    private let limit: Int
    private(set) var sum = 0

    init(upTo limit: Int) {
        self.limit = limit
        super.init()
        name = "sum up to \(limit)"
        qualityOfService = Operations::QualityOfService.utility
    }

    override func main() {
        guard !isCancelled else { return }
        sum = (1...limit).reduce(0, +)
    }
}

/// Classic: goes on after `start()` has returned, and says so by hand.
final class Downloading: Operations::Operation, @unchecked Sendable {
    // Sendable: the flags and the data are guarded by `lock`.
    private let lock = NSLock()
    private var executing = false
    private var finished = false
    private var data = Data()

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { lock.withLock { executing } }
    override var isFinished: Bool { lock.withLock { finished } }
    var received: Data { lock.withLock { data } }

    override func start() {
        guard !isCancelled else {
            willChangeValue(forKey: "isFinished")
            lock.withLock { finished = true }
            didChangeValue(forKey: "isFinished")
            return
        }
        willChangeValue(forKey: "isExecuting")
        lock.withLock { executing = true }
        didChangeValue(forKey: "isExecuting")
        DispatchQueue(label: "network").async { self.receive(Data([1, 2, 3])) }
    }

    private func receive(_ new: Data) {
        lock.withLock { data = new }
        willChangeValue(forKey: "isExecuting")
        willChangeValue(forKey: "isFinished")
        lock.withLock {
            executing = false
            finished = true
        }
        didChangeValue(forKey: "isExecuting")
        didChangeValue(forKey: "isFinished")
    }
}
