import SchedulerCore

extension OperationQueue {
    /// What happens when an operation is added to a queue that is full.
    public enum Overflow: Sendable {
        /// It is refused: `tryAddOperation` throws `OperationError.queueFull`.
        case refuse
        /// The operation that has waited longest is cancelled in its favour.
        case shedOldest
        /// The operation of the lowest priority that waits is cancelled in its favour; of several, the one added last. When
        /// the new one is lower than all, it is refused.
        case shedLowest
    }

    /// Bounds the number of operations in the queue, those that run included; nil removes the bound.
    ///
    /// It counts what is added from when a bound is first set. May be changed at any time; nothing that is in the queue
    /// leaves it for that. What is shed is cancelled, and takes no place any more. When nothing can be shed, because all
    /// run, the new operation is refused. Barriers and parts of tasks take no place.
    ///
    /// - Throws: `PolicyError.capacityNotPositive`.
    public final func setBound(_ capacity: Int?, whenFull overflow: Overflow = .refuse) throws(PolicyError) {
        if let capacity, capacity < 1 { throw .capacityNotPositive(capacity) }
        let bound = boundReference.load() ?? boundReference.storeIfNil(Bound())
        withState { state in
            bound.overflow = overflow
            state.admit(bound.backlog.setCapacity(capacity ?? .max))
        }
    }

    /// Adds an operation as soon as the queue has room. Who waits is served in order, and overtaken by nobody.
    ///
    /// - Throws: `CancellationError` when the task was cancelled meanwhile; misuse M2 and M3 as for `tryAddOperation`. The
    ///   operation has not been added then.
    public final func addOperationWhenRoom(_ operation: Operation) async throws {
        let bound = boundReference.load()
        if let bound { try await waitForPlace(of: bound) }
        do { try add(operation, hasPlace: bound != nil) {} } catch {
            if let bound { withState { $0.vacate(bound) } }
            throw error
        }
    }
}

/// The bound of a queue, from when one was first set. Its operations carry `bounded`, and give their place back.
///
/// Guarded by the lock of the queue: an operation leaves, and its place is free, in one. With a lock of its own who has seen
/// that a queue is empty could be told that it is full.
final class Bound: @unchecked Sendable {
    var backlog = Backlog<UnsafeContinuation<Void, any Error>>(capacity: .max)
    var overflow = OperationQueue.Overflow.refuse
}

extension OperationQueue.State {
    /// A place is free.
    mutating func vacate(_ bound: Bound) {
        if let next = bound.backlog.leave() { admit([next]) }
    }

    /// They have got a place.
    fileprivate mutating func admit(_ waiters: [UnsafeContinuation<Void, any Error>]) {
        if !waiters.isEmpty { ownErrands().admitted += waiters }
    }
}

extension OperationQueue {
    /// A task that waits for a place, and may be cancelled before it begins to. Guarded by the lock of the queue.
    private final class Waiting: @unchecked Sendable {
        var id: UInt64?
        var isCancelled = false
    }

    private func waitForPlace(of bound: Bound) async throws {
        let waiting = Waiting()
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = withState { _ in
                    if waiting.isCancelled { return .failure(CancellationError()) }
                    if bound.backlog.enter() { return .success(()) }
                    waiting.id = bound.backlog.wait(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = withState { _ in
                waiting.isCancelled = true
                return waiting.id.flatMap { bound.backlog.withdraw($0) }
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Takes places for operations that are about to be added; cancels others, or throws, as the bound says.
    final func takePlaces(for operations: [Operation]) throws(OperationError) {
        guard let bound = boundReference.load() else { return }
        let (victims, capacity): ([Operation]?, Int) = withState { state in
            let missing = bound.backlog.missing(for: operations.count)
            let victims = missing == 0 ? [] : state.victims(missing, for: operations, bound.overflow)
            if let victims {
                bound.backlog.enter(operations.count, insteadOf: victims.count)
                for victim in victims { _ = victim.givesUpPlace }
            }
            return (victims, bound.backlog.capacity)
        }
        guard let victims else { throw .queueFull(queue: label, capacity: capacity) }
        for operation in operations { operation.word.insert(.bounded) }
        for victim in victims { victim.cancel() }
    }
}

extension OperationQueue.State {
    /// So many that are to make room for the new ones; nil when there are not so many.
    fileprivate func victims(
        _ count: Int, for operations: [Operation], _ overflow: OperationQueue.Overflow
    ) -> [Operation]? {
        guard overflow != .refuse else { return nil }
        let waiting = operationsInOrder.filter {
            let lifecycle = $0.word.lifecycle
            return lifecycle.phase == .enqueued && lifecycle.contains(.bounded) && !lifecycle.isCancelled
        }
        guard waiting.count >= count else { return nil }
        guard overflow == .shedLowest else { return Array(waiting.prefix(count)) }
        // The lowest first; of equal ones, the one added last.
        let byRank = waiting.enumerated().sorted {
            ($0.element.word.lifecycle.effectivePriority.rawValue, -$0.offset)
                < ($1.element.word.lifecycle.effectivePriority.rawValue, -$1.offset)
        }
        let victims = byRank.prefix(count).map(\.element)
        let highest = victims.map { $0.word.lifecycle.effectivePriority.rawValue }.max() ?? 0
        let lowestNew = operations.map { $0.word.lifecycle.priority.rawValue }.min() ?? 0
        return highest <= lowestNew ? victims : nil
    }
}

extension Operation {
    /// Whether it had a place of a bounded queue, which somebody else may have now. True once: who is shed gives it up
    /// before it leaves.
    final var givesUpPlace: Bool { word.change { $0.remove(.bounded) }.contains(.bounded) }
}
