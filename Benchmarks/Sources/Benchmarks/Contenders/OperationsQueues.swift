import Operations

enum OperationsQueues: OperationSystem {
    static let contender = Contender.operations

    static func queue(width: Int?) -> OperationQueue {
        let queue = OperationQueue()
        if let width { queue.maxConcurrentOperationCount = width }
        return queue
    }

    static func operation(_ block: @escaping @Sendable () -> Void) -> Operation { BlockOperation(block: block) }

    static func add(_ operation: Operation, to queue: OperationQueue) { queue.addOperation(operation) }

    static func add(_ operations: [Operation], to queue: OperationQueue) {
        queue.addOperations(operations, waitUntilFinished: false)
    }

    static func make(_ operation: Operation, dependOn dependency: Operation) { operation.addDependency(dependency) }

    static func suspend(_ queue: OperationQueue) { queue.isSuspended = true }

    static func resume(_ queue: OperationQueue) { queue.isSuspended = false }

    static func waitUntilFinished(_ operation: Operation) { operation.waitUntilFinished() }

    static func waitUntilIdle(_ queue: OperationQueue) { queue.waitUntilAllOperationsAreFinished() }

    static func cancelAll(_ queue: OperationQueue) { queue.cancelAllOperations() }

    static func setPriority(_ priority: Priority, of operation: Operation) {
        operation.queuePriority = .init(rawValue: priority.rawValue)!
    }
}
