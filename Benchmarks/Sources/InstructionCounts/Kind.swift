import Operations

/// What is special about the operations.
enum Kind: String, CaseIterable {
    /// Nothing: `addOperation` with a block.
    case block
    /// A subclass that overrides `main`.
    case subclass
    /// Each depends on the one before.
    case chain
    /// All depend on the first, and the last depends on all.
    case fan
    /// Somebody observes `isFinished` of each.
    case observed
    /// All are cancelled before the queue is resumed.
    case cancelled

    /// Fills a suspended queue that runs one at a time, resumes it, and waits.
    func run(_ count: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let leftovers = fill(queue, count)
        if self == .cancelled { queue.cancelAllOperations() }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        withExtendedLifetime(leftovers) {}
    }

    /// Answers what must stay until the queue is idle.
    private func fill(_ queue: OperationQueue, _ count: Int) -> [NSKeyValueObservation] {
        switch self {
        case .block, .cancelled: for _ in 0..<count { queue.addOperation {} }
        case .subclass: for _ in 0..<count { queue.addOperation(Subclass()) }
        case .chain: addChain(to: queue, count)
        case .fan: addFan(to: queue, count)
        case .observed: return addObserved(to: queue, count)
        }
        return []
    }

    private func addChain(to queue: OperationQueue, _ count: Int) {
        var last: Operation?
        for _ in 0..<count {
            let operation = BlockOperation {}
            if let last { operation.addDependency(last) }
            queue.addOperation(operation)
            last = operation
        }
    }

    private func addFan(to queue: OperationQueue, _ count: Int) {
        let root = BlockOperation {}
        let sink = BlockOperation {}
        queue.addOperation(root)
        for _ in 0..<(count - 2) {
            let operation = BlockOperation {}
            operation.addDependency(root)
            sink.addDependency(operation)
            queue.addOperation(operation)
        }
        queue.addOperation(sink)
    }

    private func addObserved(to queue: OperationQueue, _ count: Int) -> [NSKeyValueObservation] {
        (0..<count).map { _ in
            let operation = BlockOperation {}
            let observation = operation.observe(\.isFinished) { _, _ in }
            queue.addOperation(operation)
            return observation
        }
    }
}

private final class Subclass: Operation, @unchecked Sendable {
    override func main() {}
}
