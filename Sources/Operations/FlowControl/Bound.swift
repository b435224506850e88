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
            state.bound = bound
            state.setShedding(overflow)
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
/// Guarded by the lock of the queue: an operation leaves, and its place is free, in one step. A separate lock could refuse a
/// caller that has just seen the queue empty.
final class Bound: @unchecked Sendable {
    var backlog = Backlog<UnsafeContinuation<Void, any Error>>(capacity: .max)
    /// The operations that wait and could be shed; nil when none is to be shed.
    fileprivate var shedding: ShedOrder?
    /// The operations whose place another one has already, and whose `cancel()` is about to be called. They do not start
    /// before they are cancelled (rule A12).
    fileprivate var victims: Set<Schedule.ID> = []

    func mayClaim(_ id: Schedule.ID) -> Bool {
        victims.isEmpty || !victims.contains(id) || OperationQueue.operation(id).word.lifecycle.isCancelled
    }

    /// An operation with a place waits, or waits no more.
    func note(_ id: Schedule.ID, _ lifecycle: Lifecycle, arrival: UInt64) {
        guard shedding != nil else { return }
        if lifecycle.isSheddable {
            shedding?.waits(id, lane: lifecycle.effectivePriority, arrival: arrival)
        } else {
            shedding?.leaves(id)
        }
    }

    /// An operation with a place starts, or leaves the queue.
    func waitsNoMore(_ id: Schedule.ID) { shedding?.leaves(id) }
}

extension Lifecycle {
    /// It waits and has a place that another operation could have. What runs is not shed.
    fileprivate var isSheddable: Bool { phase == .enqueued && contains(.bounded) && !isCancelled }
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
            let victims = missing == 0 ? [] : bound.takeVictims(missing, for: operations)
            if let victims { bound.backlog.enter(operations.count, insteadOf: victims.count) }
            return (victims, bound.backlog.capacity)
        }
        guard let victims else { throw .queueFull(queue: label, capacity: capacity) }
        for operation in operations { operation.word.insert(.bounded) }
        for victim in victims {
            victim.cancel()
            withState { _ in _ = bound.victims.remove(victim.scheduleID) }
            // An override may not have called super, and the operation has been held back meanwhile.
            victim.reconsiderReadiness()
        }
    }
}

extension Bound {
    /// Takes the places of so many operations that wait; nil when not so many can be shed. O(log waiting) for each.
    fileprivate func takeVictims(_ count: Int, for newcomers: [Operation]) -> [Operation]? {
        let lowestNew = newcomers.map { $0.word.lifecycle.priority }.min() ?? .veryLow
        let victims = shedding?.take(count, upTo: lowestNew) { OperationQueue.operation($0).word.lifecycle.isSheddable }
        return victims?.map { id in
            let operation = OperationQueue.operation(id)
            _ = operation.givesUpPlace
            self.victims.insert(id)
            return operation
        }
    }
}

extension OperationQueue.State {
    /// Sheds by another rule from now on. O(n log n).
    fileprivate mutating func setShedding(_ overflow: OperationQueue.Overflow) {
        let rule: ShedOrder.Rule? =
            switch overflow {
            case .refuse: nil
            case .shedOldest: .oldest
            case .shedLowest: .lowest
            }
        guard let bound, bound.shedding?.rule != rule else { return }
        bound.shedding = rule.map { ShedOrder($0) }
        guard rule != nil else { return }
        for (arrival, operation) in arrivals {
            bound.note(operation.scheduleID, operation.word.lifecycle, arrival: arrival)
        }
    }

    /// False: the operation is about to be cancelled in favor of another one.
    @inline(__always)
    func mayClaim(_ id: Schedule.ID) -> Bool { bound?.mayClaim(id) ?? true }

    /// An operation with a place has arrived, has changed, or waits again.
    mutating func noteBounded(_ operation: Operation, _ lifecycle: Lifecycle) {
        let id = operation.scheduleID
        bound?.note(id, lifecycle, arrival: keyed?.members[id]?.arrival ?? operation.ticket.arrival)
    }
}

extension Operation {
    /// Whether it had a place of a bounded queue, which somebody else may have now. True once: who is shed gives it up
    /// before it leaves.
    final var givesUpPlace: Bool { word.change { $0.remove(.bounded) }.contains(.bounded) }
}
