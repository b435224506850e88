import OperationsPrimitives
import SchedulerCore

/// The queues of the process, for explanations.
///
/// A weak reference would give each queue a side table, and make an operation of a subclass a tenth slower. The registry holds the
/// state of a queue instead, which is an object of its own. While a queue holds operations, its state holds the queue (rule Q1). Before
/// a thread has taken new operations from the inbox into the state, the request for that thread holds the queue.
enum QueueRegistry {
    private struct Entry {
        let number: UInt64
        let state: Locked<OperationQueue.State>
    }

    private struct Entries {
        var last: UInt64 = 0
        var byQueue: [UnsafeMutableRawPointer: Entry] = [:]
    }

    private static let entries = Locked(Entries())

    private static func address(of queue: OperationQueue) -> UnsafeMutableRawPointer {
        Unmanaged.passUnretained(queue).toOpaque()
    }

    /// Called by the initializer of the queue.
    static func add(_ queue: OperationQueue) {
        let (address, state) = (address(of: queue), queue.state)
        entries.withLock { entries in
            entries.last += 1
            entries.byQueue[address] = Entry(number: entries.last, state: state)
        }
    }

    /// Called by the `deinit` of the queue.
    static func remove(_ queue: OperationQueue) {
        let address = address(of: queue)
        let removed = entries.withLock { $0.byQueue.removeValue(forKey: address) }
        withExtendedLifetime(removed) {}
    }

    /// The queues that may hold operations, in the order of their creation, and the number of all queues.
    static var queues: (busy: [OperationQueue], count: Int) {
        let requesting = WorkerPool.pools.flatMap { $0.sources }.compactMap { $0 as? OperationQueue }
        let entries = entries.withLock { $0.byQueue }
        let busy = entries.values.compactMap { $0.state.withLock { $0.keptAlive } }
        var found: [UnsafeMutableRawPointer: OperationQueue] = [:]
        for queue in requesting + busy { found[address(of: queue)] = queue }
        let sorted = found.sorted { entries[$0.key]?.number ?? .max < entries[$1.key]?.number ?? .max }
        return (sorted.map(\.value), entries.count)
    }

    /// The queue at an address, if it holds operations. The address may be that of a released queue.
    static func queue(at address: UnsafeMutableRawPointer) -> OperationQueue? {
        let entry = entries.withLock { $0.byQueue[address] }
        return entry?.state.withLock { $0.keptAlive }
    }
}

extension WorkerPool {
    /// The sources that threads of the pool work for, and those that wait for a thread.
    fileprivate var sources: [any WorkSource] {
        state.withLock { state in
            let waiting = Urgency.allCases.flatMap { urgency in
                let line = state[urgency].line
                return (0..<line.count).map { line[$0].request.source }
            }
            return waiting + state.busy.values.compactMap(\.census.source)
        }
    }
}

extension Operation {
    /// The queue that the operation is in; nil if it is in none, or is just being added.
    final var queueOfMember: OperationQueue? {
        guard word.lifecycle.hasQueue, let address = queue?.toOpaque() else { return nil }
        let found = QueueRegistry.queue(at: address)
        // As long as the operation has not left, its queue is the one at the address.
        return word.lifecycle.phase == .finished ? nil : found
    }
}
