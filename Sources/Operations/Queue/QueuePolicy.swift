import SchedulerCore

/// A rule of a queue besides dependencies, priorities, barriers and the limit: keys, capacity, rates, resources, observing.
///
/// The queue calls the hooks with its lock held, so a hook neither calls user code nor releases objects of the user. Most
/// queues have no policy. Then each place that has a hook costs one test. A policy that does not cover all operations is
/// asked only about operations with one of the flags `Lifecycle.Flags.policies`.
protocol QueuePolicy: AnyObject {
    /// The place among the policies of a queue, which are asked in this order.
    var rank: QueuePolicyRank { get }

    /// Whether the policy concerns the operations without a flag of a policy too.
    var coversAll: Bool { get }

    /// Whether the policy holds a ready operation back, because its turn has not come.
    func holdsBack(_ operation: Operation, _ lifecycle: Lifecycle) -> Bool

    /// Called when an operation has joined, or when its priority or its readiness has changed.
    ///
    /// - Parameter isNew: Whether the operation has just joined the queue.
    func changed(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool, in state: inout OperationQueue.State)

    /// Whether any operation may start now.
    func mayStart(at reading: PolicyReading?, in state: inout OperationQueue.State) -> Bool

    /// Called when a thread has claimed an operation.
    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    )

    /// Called when an operation could not be claimed, because it is no longer ready.
    func notClaimed(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State)

    /// Called when an operation has released its slot before its end.
    ///
    /// - Parameter hasBegun: Whether its work has begun, and it is paused. If not, it was claimed and did not start.
    func putBack(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool, in state: inout OperationQueue.State)

    /// Called before an operation leaves the queue.
    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State)

    /// Whether the work that is due resumes tasks. The executor of a task may keep the thread that resumes the task.
    var resumesTasks: Bool { get }

    /// Returns the work that the thread does as soon as it has released the lock; nil for none.
    func takeAction(in state: inout OperationQueue.State) -> PolicyAction?
}

/// Work of a policy that a thread does without the lock.
typealias PolicyAction = (OperationQueue) -> Void

/// The order in which a queue asks its policies. It does their work after the lock in the reverse order.
///
/// Observing is first, because it reads values that other policies forget when an operation leaves. Its work is last, because
/// it calls observers of the user.
enum QueuePolicyRank: Int { case observing, capacity, resources, keys, rate }

/// A policy, and the time on the clock of that policy. The clock may be the caller's, so a thread reads it before it takes
/// the lock. A time alone would be wrong when another policy replaces this one after the reading.
struct PolicyReading {
    let policy: any QueuePolicy
    let time: UInt64
}

extension QueuePolicy {
    var coversAll: Bool { false }
    var resumesTasks: Bool { false }
    func holdsBack(_ operation: Operation, _ lifecycle: Lifecycle) -> Bool { false }
    func changed(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool, in state: inout OperationQueue.State) {}
    func mayStart(at reading: PolicyReading?, in state: inout OperationQueue.State) -> Bool { true }
    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    ) {}
    func notClaimed(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {}
    func putBack(
        _ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool, in state: inout OperationQueue.State
    ) {}
    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {}
    func takeAction(in state: inout OperationQueue.State) -> PolicyAction? { nil }
}

/// The policies of a queue. Guarded by the queue's lock.
///
/// Questions are methods of this type. A nonmutating method of `State` would copy the whole state for each call.
struct QueuePolicies {
    private(set) var all: [any QueuePolicy] = []
    private(set) var isEmpty = true
    private var coversAll = false

    /// Whether a policy concerns an operation.
    @inline(__always)
    func concern(_ lifecycle: Lifecycle) -> Bool { !isEmpty && (coversAll || lifecycle.containsAny(.policies)) }

    @inline(never)
    func holdBack(_ operation: Operation, _ lifecycle: Lifecycle) -> Bool {
        all.contains { $0.holdsBack(operation, lifecycle) }
    }

    /// Whether the work that is due resumes tasks.
    @inline(__always)
    var resumeTasks: Bool { !isEmpty && anyResumesTasks }

    @inline(never)
    private var anyResumesTasks: Bool { all.contains { $0.resumesTasks } }

    /// Returns the policy of a type, if the queue has one.
    func first<Policy: QueuePolicy>(_ type: Policy.Type) -> Policy? {
        for case let policy as Policy in all { return policy }
        return nil
    }

    /// Adds a policy.
    mutating func insert(_ policy: any QueuePolicy) {
        all.append(policy)
        all.sort { $0.rank.rawValue < $1.rank.rawValue }
        update()
    }

    /// Removes and returns the policies of a rank, so that the caller releases them without the lock.
    mutating func remove(_ rank: QueuePolicyRank) -> [any QueuePolicy] {
        let removed = all.filter { $0.rank == rank }
        all.removeAll { $0.rank == rank }
        update()
        return removed
    }

    private mutating func update() {
        isEmpty = all.isEmpty
        coversAll = all.contains { $0.coversAll }
    }
}

// Not inlined: most queues have no policy, and the hooks would be a large part of each section.
extension OperationQueue.State {
    /// Returns the policy of a type. Adds a new one if the queue has none.
    mutating func policy<Policy: QueuePolicy>(orNew new: @autoclosure () -> Policy) -> Policy {
        if let known = policies.first(Policy.self) { return known }
        let policy = new()
        policies.insert(policy)
        return policy
    }

    @inline(never)
    mutating func notePoliciesChanged(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool) {
        for policy in policies.all { policy.changed(operation, lifecycle, isNew: isNew, in: &self) }
    }

    @inline(never)
    mutating func policiesPermitStart(at reading: PolicyReading?) -> Bool {
        for policy in policies.all where !policy.mayStart(at: reading, in: &self) { return false }
        return true
    }

    @inline(never)
    mutating func notePoliciesClaimed(_ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?) {
        for policy in policies.all { policy.claimed(operation, lifecycle, at: reading, in: &self) }
    }

    @inline(never)
    mutating func notePoliciesNotClaimed(_ operation: Operation, _ lifecycle: Lifecycle) {
        for policy in policies.all { policy.notClaimed(operation, lifecycle, in: &self) }
    }

    @inline(never)
    mutating func notePoliciesPutBack(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool) {
        for policy in policies.all { policy.putBack(operation, lifecycle, hasBegun: hasBegun, in: &self) }
    }

    @inline(never)
    mutating func notePoliciesLeaving(_ operation: Operation, _ lifecycle: Lifecycle) {
        for policy in policies.all { policy.leaves(operation, lifecycle, in: &self) }
    }

    /// Returns the work of the policies that is due.
    mutating func takePolicyActions() -> [PolicyAction] {
        var actions: [PolicyAction] = []
        for policy in policies.all.reversed() {
            if let action = policy.takeAction(in: &self) { actions.append(action) }
        }
        return actions
    }
}
