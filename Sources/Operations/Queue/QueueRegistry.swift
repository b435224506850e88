import SchedulerCore

/// The queues of the process, for explanations.
enum QueueRegistry {
    private struct Entry {
        let number: UInt64
        weak var queue: OperationQueue?
    }

    private struct Entries {
        var last: UInt64 = 0
        var byQueue: [UnsafeMutableRawPointer: Entry] = [:]
    }

    private static let entries = Locked(Entries())

    /// Called by the initializer of the queue.
    static func add(_ queue: OperationQueue) {
        let address = Unmanaged.passUnretained(queue).toOpaque()
        entries.withLock { entries in
            entries.last += 1
            entries.byQueue[address] = Entry(number: entries.last, queue: queue)
        }
    }

    /// Called by the `deinit` of the queue.
    static func remove(_ queue: OperationQueue) {
        let address = Unmanaged.passUnretained(queue).toOpaque()
        _ = entries.withLock { $0.byQueue.removeValue(forKey: address) }
    }

    /// All queues, in the order of their creation.
    static var queues: [OperationQueue] {
        let all = entries.withLock { $0.byQueue.values.compactMap { entry in entry.queue.map { (entry.number, $0) } } }
        return all.sorted { $0.0 < $1.0 }.map(\.1)
    }

    /// The queue at an address, which may be that of a released queue.
    static func queue(at address: UnsafeMutableRawPointer) -> OperationQueue? {
        entries.withLock { $0.byQueue[address]?.queue }
    }
}

extension Operation {
    /// The queue that the operation is in; nil if it is in none.
    final var queueOfMember: OperationQueue? {
        guard word.lifecycle.hasQueue, let address = queue?.toOpaque() else { return nil }
        let found = QueueRegistry.queue(at: address)
        // As long as the operation has not left, its queue is the one at the address.
        return word.lifecycle.phase == .finished ? nil : found
    }
}
