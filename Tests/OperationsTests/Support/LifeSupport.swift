import Operations
import Synchronization
import TestSupport

/// Reads the deprecated names without a warning.
private protocol LifeSnapshot {
    var operations: [Operation] { get }
    var operationCount: Int { get }
}

extension OperationQueue: LifeSnapshot {}

extension OperationQueue {
    var countNow: Int { (self as any LifeSnapshot).operationCount }
    var operationsNow: [Operation] { (self as any LifeSnapshot).operations }

    static func serial() -> OperationQueue {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        return queue
    }

    static func suspended() -> OperationQueue {
        let queue = OperationQueue()
        queue.isSuspended = true
        return queue
    }
}

/// Notifies the test when it is released.
final class Tracer: Sendable {
    let released: Gate
    private let count = Atomic(0)

    init(_ released: Gate = Gate()) { self.released = released }

    deinit { released.open() }

    func touch() { count.add(1, ordering: .relaxed) }
}

/// Counts its runs.
class CountingOperation: Operation, @unchecked Sendable {
    let runs = Atomic(0)
    override func main() { runs.add(1, ordering: .relaxed) }
    var runCount: Int { runs.load(ordering: .relaxed) }
}

/// An operation that runs until the test ends it.
final class GatedOperation: Operation, @unchecked Sendable {
    let began = Gate()
    let mayEnd = Gate()

    override func main() {
        began.open()
        mayEnd.pass()
    }
}
