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
    /// leaves it for that. An operation that is shed is cancelled, and takes no place any more. An operation that has begun is
    /// never shed. When nothing can be shed, the new operation is refused. Barriers and parts of tasks take no place.
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
    /// It waits and has a place that another operation could have. What has begun is not shed, even if it has given its slot
    /// back since (rule A12).
    fileprivate var isSheddable: Bool {
        phase == .enqueued && contains(.bounded) && !containsAny([.cancelled, .hasBegun])
    }
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
        // Asked without the lock: `queuePriority` may be overridden.
        let lowest = operations.map { shedLane(of: $0) }.min() ?? .veryLow
        let (victims, capacity): ([Operation]?, Int) = withState { state in
            let missing = bound.backlog.missing(for: operations.count)
            let victims = missing == 0 ? [] : bound.takeVictims(missing, upTo: lowest)
            if let victims { bound.backlog.enter(operations.count, insteadOf: victims.count) }
            return (victims, bound.backlog.capacity)
        }
        guard let victims else { throw .queueFull(queue: label, capacity: capacity) }
        for operation in operations { operation.word.insert(.bounded) }
        // The `cancel()` of one may wait for another one, to which a worker then comes.
        for victim in victims.dropFirst() { victim.offerCancelCall() }
        for victim in victims { victim.cancelIfUnclaimed() }
    }

    /// The lane in which an operation is going to wait that is being added.
    private func shedLane(of operation: Operation) -> PriorityLane {
        HeldLocks.assertNone()
        let own = operation.asked {
            $0.priority
        } else: {
            operation.queuePriority.lane
        }
        return hasMembersInherit ? max(own, operation.word.lifecycle.lentPriority) : own
    }
}

extension Bound {
    /// Takes the places of so many operations that wait; nil when not so many can be shed. From now on none of them starts
    /// before its `cancel()` was called. O(log waiting) for each.
    ///
    /// - Parameter lowest: The lowest lane of the operations that need the places.
    fileprivate func takeVictims(_ count: Int, upTo lowest: PriorityLane) -> [Operation]? {
        let victims = shedding?.take(count, upTo: lowest) { OperationQueue.operation($0).word.lifecycle.isSheddable }
        return victims?.map { id in
            let operation = OperationQueue.operation(id)
            _ = operation.givesUpPlace
            operation.word.update { $0.cancelPromised() }
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
