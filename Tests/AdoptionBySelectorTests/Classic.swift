// The fourth way to adopt: a module selector at each use of a name. The selector determines the meaning of that use only.
import Foundation
import Operations

/// A classic synchronous operation: it works in `main()` and checks `isCancelled`.
final class Summing: Operations::Operation, @unchecked Sendable {
    // Sendable: `main()` writes `sum`, and other threads read it after the end.
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

/// A classic asynchronous operation: it continues after `start()` has returned, and announces its states by hand.
final class Downloading: Operations::Operation, @unchecked Sendable {
    // Sendable: `lock` guards the flags and the data.
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
