import SchedulerCore

extension OperationQueue {
    /// The action of a full queue when an operation is added to it.
    public enum OverflowPolicy: Sendable {
        /// The queue refuses the new operation, which fails with ``OperationError/queueFull(queue:capacity:)`` and never runs.
        /// Calls that throw throw this error.
        case reject
        /// The queue cancels the operation that has waited longest, and accepts the new operation.
        case dropOldest
        /// The queue cancels the waiting operation of the lowest priority, and accepts the new operation. Of several such
        /// operations, the queue cancels the one added last. If the new operation has a lower priority than all waiting
        /// operations, the queue rejects the new operation.
        case dropLowest
    }

    /// Sets the capacity of the queue: the largest number of operations in the queue, including running operations. A full queue
    /// refuses new operations, unless another overflow policy applies.
    ///
    /// No overflow stops the process. To wait in place of being refused, call
    /// ``addTaskWaitingForCapacity(name:priority:after:limitKey:timeout:deadline:retry:_:)`` or ``addOperationWaitingForCapacity(_:limitKey:)``.
    ///
    /// The capacity counts the operations that are added after the first call of this method. The capacity may change at any
    /// time, and a smaller capacity removes no operation from the queue. An operation that is shed is cancelled, and no longer
    /// counts. An operation that has begun is never shed. If no operation can be shed, the queue rejects the new operation.
    /// Barriers and jobs of tasks do not count.
    ///
    /// - Parameters:
    ///   - capacity: The largest number of operations; nil removes the limit.
    ///   - policy: The action of the queue when it is full.
    ///
    /// The call stops the process if `capacity` is less than 1.
    public final func setCapacity(_ capacity: Int?, onOverflow policy: OverflowPolicy = .reject) {
        if let capacity, capacity < 1 { InvalidPolicy.capacity(capacity).stop() }
        // The policy, which takes places back, is installed before the gate, which gives them. Otherwise an operation that is
        // added and ends in between would keep its place forever.
        let gate = ownHooks.addIfNone(withState { $0.policy(orNew: CapacityGate()) })
        withState { state in
            gate.setShedding(policy, of: state.arrivals)
            gate.admit(gate.backlog.setCapacity(capacity ?? .max))
        }
    }

    /// The largest number of operations in the queue; nil if the queue has no capacity. See ``setCapacity(_:onOverflow:)``.
    public final var capacity: Int? {
        additionPolicy(CapacityGate.self).flatMap { gate in
            withState { _ in gate.backlog.capacity == .max ? nil : gate.backlog.capacity }
        }
    }

    /// The action of the queue when it is full. The default is ``OverflowPolicy/reject``.
    public final var overflowPolicy: OverflowPolicy {
        let gate = additionPolicy(CapacityGate.self)
        return switch withState({ _ in gate?.shedding?.rule }) {
        case nil: .reject
        case .oldest: .dropOldest
        case .lowest: .dropLowest
        }
    }

    /// Adds an operation as soon as the queue has free capacity. The queue serves waiting callers in the order of their calls.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - key: The key whose limit applies, such as a host; nil for no key. See ``addOperation(_:limitKey:)``.
    /// - Throws: `CancellationError` if the task is cancelled before or while the caller waits, and the misuse errors of
    ///   `tryAddOperation`. If the method throws, the operation is not in the queue.
    public final func addOperationWaitingForCapacity(_ operation: Operation, limitKey key: String? = nil) async throws {
        try Task.checkCancellation()
        if isShutDown { throw OperationError.queueShutDown(queue: label) }
        let gate = additionPolicy(CapacityGate.self)
        if let gate {
            if !withState({ _ in gate.backlog.enter() }) {
                operation.noteWait(forCapacityOf: self)
                defer { operation.noteWait(forCapacityOf: nil) }
                try await ThreadContext.noteSuspension(for: .operation(operation)) { try await waitForPlace(of: gate) }
            }
        }
        // The flag has the gate take no second place.
        var hasPlace = false
        let takePlace = {
            guard gate != nil else { return }
            operation.word.insert(.bounded)
            hasPlace = true
        }
        do throws(OperationError) {
            if let key {
                try add(operation, key: key, check: takePlace)
            } else {
                try add(operation, check: takePlace) {}
            }
        } catch {
            // The flag of an operation that is in another queue is of that queue.
            if hasPlace { _ = operation.releasePlace() }
            if let gate { withState { _ in gate.vacate() } }
            throw error
        }
    }
}

/// The capacity of a queue, present from the first call of `setCapacity`. Its operations have the flag `bounded`, and return
/// their places.
///
/// Guarded by the lock of the queue, so an operation leaves and frees its place in one step. With a separate lock, the queue
/// could reject an operation of a caller that has just seen the queue empty.
final class CapacityGate: QueuePolicy, AdditionPolicy, @unchecked Sendable {
    let rank = QueuePolicyRank.capacity
    var backlog = Backlog<UnsafeContinuation<Void, any Error>>(capacity: .max)
    /// The waiting operations that can be shed; nil if the queue sheds none.
    fileprivate var shedding: ShedOrder?

    /// The callers that have received a place. They are resumed after the lock is released.
    private var admitted: [UnsafeContinuation<Void, any Error>] = []

    fileprivate func admit(_ waiters: [UnsafeContinuation<Void, any Error>]) { admitted += waiters }

    /// Gives places to all waiting callers, regardless of the capacity. The queue is shut down and refuses their operations.
    func admitAll(of queue: OperationQueue) {
        queue.withState { _ in admit(backlog.setCapacity(.max)) }
    }

    /// Frees a place, and gives it to the next waiting caller.
    fileprivate func vacate() {
        if let next = backlog.leave() { admitted.append(next) }
    }

    var resumesTasks: Bool { !admitted.isEmpty }

    func takeAction(in state: inout OperationQueue.State) -> PolicyAction? {
        guard !admitted.isEmpty else { return nil }
        let waiters = admitted
        admitted = []
        return { _ in for waiter in waiters { waiter.resume() } }
    }

    // MARK: - Operations that can be shed

    /// Records whether an operation with a place can be shed now.
    private func note(_ operation: Operation, _ lifecycle: Lifecycle, arrival: @autoclosure () -> UInt64) {
        guard shedding != nil, lifecycle.contains(.bounded) else { return }
        if lifecycle.isSheddable {
            shedding?.waits(operation.scheduleID, lane: lifecycle.effectivePriority, arrival: arrival())
        } else {
            shedding?.leaves(operation.scheduleID)
        }
    }

    func changed(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool, in state: inout OperationQueue.State) {
        note(operation, lifecycle, arrival: state.policies.arrival(of: operation))
    }

    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    ) {
        if lifecycle.contains(.bounded) { shedding?.leaves(operation.scheduleID) }
    }

    func putBack(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool, in state: inout OperationQueue.State) {
        note(operation, operation.word.lifecycle, arrival: state.policies.arrival(of: operation))
    }

    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        shedding?.leaves(operation.scheduleID)
        if operation.releasePlace() { vacate() }
    }

    /// Sets the rule by which the queue sheds. O(n log n).
    fileprivate func setShedding(
        _ overflow: OperationQueue.OverflowPolicy,
        of members: @autoclosure () -> [OperationQueue.Arrival]
    ) {
        let rule: ShedOrder.Rule? =
            switch overflow {
            case .reject: nil
            case .dropOldest: .oldest
            case .dropLowest: .lowest
            }
        guard shedding?.rule != rule else { return }
        shedding = rule.map { ShedOrder($0) }
        guard rule != nil else { return }
        for member in members() {
            note(member.operation, member.operation.word.lifecycle, arrival: member.arrival)
        }
    }
}

extension Lifecycle {
    /// Whether the operation waits and has a place that another operation could take. An operation that has begun is not
    /// shed, even if it has released its slot since (rule A12).
    fileprivate var isSheddable: Bool {
        phase == .enqueued && contains(.bounded) && !containsAny([.cancelled, .hasBegun])
    }
}

extension OperationQueue {
    /// A task that waits for a place, and may be cancelled before the wait begins. Guarded by the lock of the queue.
    private final class Waiting: @unchecked Sendable {
        var id: UInt64?
        var isCancelled = false
    }

    private func waitForPlace(of gate: CapacityGate) async throws {
        let waiting = Waiting()
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: UnsafeContinuation<Void, any Error>) in
                let result: Result<Void, any Error>? = withState { _ in
                    if waiting.isCancelled { return .failure(CancellationError()) }
                    if gate.backlog.enter() { return .success(()) }
                    waiting.id = gate.backlog.wait(continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = withState { _ in
                waiting.isCancelled = true
                return waiting.id.flatMap { gate.backlog.withdraw($0) }
            }
            continuation?.resume(throwing: CancellationError())
        }
    }

    /// Returns the lane in which an operation will wait after it is added.
    fileprivate func shedLane(of operation: Operation) -> PriorityLane {
        // Not under the lock: `queuePriority` may be overridden.
        HeldLocks.assertNone()
        let own = operation.asked {
            $0.priority
        } else: {
            operation.queuePriority.lane
        }
        return hasMembersInherit ? max(own, operation.word.lifecycle.lentPriority) : own
    }
}

extension CapacityGate {
    /// Takes places for the operations. If the queue is full, cancels other operations or throws.
    func mayAdd(_ operations: [Operation], to queue: OperationQueue) throws(OperationError) {
        let operations = operations.filter { !$0.word.lifecycle.containsAny([.unlisted, .bounded]) }
        guard let lowest = operations.map({ queue.shedLane(of: $0) }).min() else { return }
        let (victims, capacity): ([Operation]?, Int) = queue.withState { _ in
            let missing = backlog.missing(for: operations.count)
            let victims = missing == 0 ? [] : takeVictims(missing, upTo: lowest)
            if let victims { backlog.enter(operations.count, insteadOf: victims.count) }
            return (victims, backlog.capacity)
        }
        guard let victims else { throw .queueFull(queue: queue.label, capacity: capacity) }
        for operation in operations { operation.word.insert(.bounded) }
        // The `cancel()` of one victim may wait for another victim, which a worker then cancels.
        for victim in victims.dropFirst() { victim.offerCancelCall() }
        for victim in victims { victim.cancelIfUnclaimed() }
    }

    /// Takes the places of `count` waiting operations and returns these operations, or nil if fewer can be shed. None of
    /// them starts before a call of its `cancel()`. O(log waiting) for each.
    ///
    /// - Parameter lowest: The lowest lane of the operations that need the places.
    fileprivate func takeVictims(_ count: Int, upTo lowest: PriorityLane) -> [Operation]? {
        let victims = shedding?.take(count, upTo: lowest) { OperationQueue.operation($0).word.lifecycle.isSheddable }
        return victims?.map { id in
            let operation = OperationQueue.operation(id)
            _ = operation.releasePlace()
            operation.word.update { $0.cancelPromised() }
            return operation
        }
    }
}

extension Operation {
    /// The full queue to which a caller wants to add the operation.
    final var queueWithoutCapacity: OperationQueue? { attachments?.withLock { $0.extras?.queueWithoutCapacity } }

    fileprivate final func noteWait(forCapacityOf queue: OperationQueue?) {
        ownAttachments.withExtras { $0.queueWithoutCapacity = queue }
    }

    /// Gives up the place in a bounded queue. Returns whether the operation had a place. The value is true only once: an
    /// operation that is shed gives up its place before it leaves the queue.
    final func releasePlace() -> Bool { word.change { $0.remove(.bounded) }.contains(.bounded) }
}
