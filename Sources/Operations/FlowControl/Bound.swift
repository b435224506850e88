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
        bound.change(to: capacity ?? .max, overflow)
    }

    /// Adds an operation as soon as the queue has room. Who waits is served in order, and overtaken by nobody.
    ///
    /// - Throws: `CancellationError` when the task was cancelled meanwhile; misuse M2 and M3 as for `tryAddOperation`. The
    ///   operation has not been added then.
    public final func addOperationWhenRoom(_ operation: Operation) async throws {
        let bound = boundReference.load()
        try await bound?.waitForPlace()
        do { try add(operation, hasPlace: bound != nil) {} } catch {
            bound?.vacate()
            throw error
        }
    }
}

/// The bound of a queue, from when one was first set. Its operations carry `bounded`, and give their place back.
final class Bound: Sendable {
    private struct State {
        var backlog = Backlog<UnsafeContinuation<Void, any Error>>(capacity: .max)
        var overflow = OperationQueue.Overflow.refuse
    }

    private let state = Locked(State())

    func change(to capacity: Int, _ overflow: OperationQueue.Overflow) {
        let admitted = state.withLock { state in
            state.overflow = overflow
            return state.backlog.setCapacity(capacity)
        }
        for continuation in admitted { continuation.resume() }
    }

    enum Entry { case entered, full(OperationQueue.Overflow, capacity: Int) }

    func enter(_ count: Int) -> Entry {
        state.withLock { state in
            state.backlog.enter(count) ? .entered : .full(state.overflow, capacity: state.backlog.capacity)
        }
    }

    /// For what others were shed for.
    func enterInAnyCase(_ count: Int) { state.withLock { $0.backlog.enterInAnyCase(count) } }

    /// A place is free.
    func vacate() {
        let next = state.withLock { $0.backlog.leave() }
        next?.resume()
    }

    func waitForPlace() async throws {
        let waiting = Waiting()
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if waiting.isCancelled { return .failure(CancellationError()) }
                    if state.backlog.enter() { return .success(()) }
                    waiting.id = state.backlog.wait(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                waiting.isCancelled = true
                return waiting.id.flatMap { state.backlog.withdraw($0) }
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// A task that waits, and may be cancelled before it begins to. Guarded by the lock of the bound.
    private final class Waiting: @unchecked Sendable {
        var id: UInt64?
        var isCancelled = false
    }
}

extension OperationQueue {
    /// Takes places for operations that are about to be added; cancels others, or throws, as the bound says.
    final func takePlaces(for operations: [Operation]) throws(OperationError) {
        guard let bound = boundReference.load() else { return }
        if case .full(let overflow, let capacity) = bound.enter(operations.count) {
            let victims = overflow == .refuse ? nil : victims(overflow, for: operations)
            guard let victims else { throw .queueFull(queue: label, capacity: capacity) }
            bound.enterInAnyCase(operations.count)
            for victim in victims { shed(victim, bound) }
        }
        for operation in operations { operation.word.insert(.bounded) }
    }

    /// Who is to make room, one for each of the new ones; nil when there are not so many.
    private func victims(_ overflow: Overflow, for operations: [Operation]) -> [Operation]? {
        let waiting = withState { state in
            state.operationsInOrder.filter {
                $0.word.lifecycle.phase == .enqueued && $0.word.lifecycle.contains(.bounded)
                    && !$0.word.lifecycle.isCancelled
            }
        }
        guard overflow == .shedLowest else {
            return waiting.count >= operations.count ? Array(waiting.prefix(operations.count)) : nil
        }
        // The lowest first; of equal ones, the one added last.
        let byRank = waiting.enumerated().sorted {
            ($0.element.word.lifecycle.effectivePriority.rawValue, -$0.offset)
                < ($1.element.word.lifecycle.effectivePriority.rawValue, -$1.offset)
        }
        let victims = byRank.prefix(operations.count).map(\.element)
        let highest = victims.map { $0.word.lifecycle.effectivePriority.rawValue }.max() ?? 0
        let lowestNew = operations.map { $0.word.lifecycle.priority.rawValue }.min() ?? 0
        return victims.count == operations.count && highest <= lowestNew ? victims : nil
    }

    private func shed(_ victim: Operation, _ bound: Bound) {
        if victim.givesUpPlace { bound.vacate() }
        victim.cancel()
    }
}

extension Operation {
    /// Whether it had a place of a bounded queue, which somebody else may have now. True once: who is shed gives it up
    /// before it leaves.
    final var givesUpPlace: Bool { word.change { $0.remove(.bounded) }.contains(.bounded) }
}
