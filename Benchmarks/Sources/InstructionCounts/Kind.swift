#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import Operations

/// The kind of the operations.
enum Kind: String, CaseIterable {
    /// `addOperation` with a block.
    case block
    /// A subclass that overrides `main`.
    case subclass
    /// Each operation depends on the previous one.
    case chain
    /// All operations depend on the first, and the last depends on all.
    case fan
    /// `isFinished` of each operation is observed.
    case observed
    /// All operations are cancelled before the queue is resumed.
    case cancelled
    /// `addTask` with a closure that suspends once.
    case async

    /// Fills a suspended serial queue, resumes it, and waits.
    func run(_ count: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        var tokens: [NSKeyValueObservation] = []
        weak let first = fill(queue, count, &tokens)
        if self == .cancelled { queue.cancelAllOperations() }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        tokens = []
        // A worker releases the last operation after the waiting threads were woken. In a chain, that release releases all
        // operations.
        while first != nil { usleep(1_000) }
    }

    /// Returns the operation that is released last, if the operations hold each other.
    private func fill(_ queue: OperationQueue, _ count: Int, _ tokens: inout [NSKeyValueObservation]) -> Operation? {
        switch self {
        case .block, .cancelled: for _ in 0..<count { queue.addOperation {} }
        case .subclass: for _ in 0..<count { queue.addOperation(Subclass()) }
        case .chain: return addChain(to: queue, count)
        case .fan: return addFan(to: queue, count)
        case .async: for _ in 0..<count { queue.addTask { await Task.yield() } }
        case .observed: tokens = addObserved(to: queue, count)
        }
        return nil
    }

    private func addChain(to queue: OperationQueue, _ count: Int) -> Operation {
        let first = BlockOperation {}
        queue.addOperation(first)
        var last = first
        for _ in 1..<count {
            let operation = BlockOperation {}
            operation.addDependency(last)
            queue.addOperation(operation)
            last = operation
        }
        return first
    }

    private func addFan(to queue: OperationQueue, _ count: Int) -> Operation {
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
        return root
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
