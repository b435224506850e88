import Operations

/// Adds operations to queues in the order of the calls, also while a bounded queue is full.
///
/// The calls come from one thread at a time: the thread that runs the due work of an agenda.
final class AdditionLine: Sendable {
    /// The operations that wait for capacity, by queue. While a task adds operations of a queue, the queue has an entry, so
    /// that no later operation overtakes them.
    private let waiting = Locked<[ObjectIdentifier: [BlockOperation]]>([:])

    func add(_ operation: BlockOperation, to queue: Operations.OperationQueue) {
        let id = ObjectIdentifier(queue)
        let isBehind = waiting.withLock { waiting in
            waiting[id]?.append(operation)
            return waiting[id] != nil
        }
        if isBehind { return }
        do { try queue.tryAddOperation(operation) } catch {
            // The queue is bounded and full. This thread belongs to the system, so no caller could catch an error.
            waiting.withLock { $0[id] = [operation] }
            Task(executorPreference: queue.executorBeside) { await self.addWaiting(to: queue) }
        }
    }

    private func addWaiting(to queue: Operations.OperationQueue) async {
        while let operations = takeWaiting(for: ObjectIdentifier(queue)) {
            for operation in operations { try? await queue.addOperationWaitingForCapacity(operation) }
        }
    }

    /// Returns the operations that have come since the last call. Removes the entry of the queue, and returns nil, if none has.
    private func takeWaiting(for id: ObjectIdentifier) -> [BlockOperation]? {
        waiting.withLock { waiting in
            guard let operations = waiting[id], !operations.isEmpty else {
                waiting[id] = nil
                return nil
            }
            waiting[id] = []
            return operations
        }
    }
}
