import Operations
import TestSupport

/// A queue whose slots are all used until `release()`, so that operations that are added meanwhile have to wait.
struct HeldQueue {
    let queue = OperationQueue()
    private let holders: [Gate]

    /// `width` nil: the default limit, with all slots up to its ceiling used.
    init(width: Int? = 1) {
        if let width { queue.maxConcurrentOperationCount = width }
        let started = Gate(width ?? OperationQueue.defaultMaxThreadCount)
        let gates = (0..<(width ?? OperationQueue.defaultMaxThreadCount)).map { _ in Gate() }
        for gate in gates {
            queue.addOperation {
                started.open()
                gate.pass()
            }
        }
        started.pass()
        holders = gates
    }

    /// Frees one slot.
    func freeOne(_ index: Int = 0) { holders[index].open() }

    /// Frees all slots and waits until the queue is empty.
    func release() {
        for gate in holders { gate.open() }
        queue.waitUntilAllOperationsAreFinished()
    }
}
