import SchedulerCore

/// The gated operations of a queue that resources are reserved for, and those that are not ready for their resources. See
/// `Admit.swift`.
///
/// A reservation holds as long as the queue has a free slot and a thread is likely to come. Otherwise operations of other
/// queues that could run would wait for an operation that cannot.
final class ResourceOffers: QueuePolicy {
    let rank = QueuePolicyRank.resources
    private var offered = OrderedIDs()
    private var notReady = OrderedIDs()

    func changed(_ change: PolicyChange, in state: inout OperationQueue.State) {
        guard change.lifecycle.contains(.gated) else { return }
        // A cancelled operation needs no resources, and may wait long for a slot, so other operations overtake it in the
        // lines of its resources.
        if change.lifecycle.isCancelled {
            stepsOut(change.operation)
        } else if change.isReady {
            offered.insert(change.operation.scheduleID)
        }
    }

    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    ) {
        offered.remove(operation.scheduleID)
    }

    func notClaimed(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        if lifecycle.contains(.gated) { stepsOut(operation) }
    }

    /// Removes an operation from the lines of the resources that it waits for.
    private func stepsOut(_ operation: Operation) {
        offered.remove(operation.scheduleID)
        notReady.insert(operation.scheduleID)
    }

    func takeAction(in state: inout OperationQueue.State) -> PolicyAction? {
        let lapsing = state.callsThreadSoon ? [] : offered.inOrder
        let notReady = notReady.inOrder
        guard !lapsing.isEmpty || !notReady.isEmpty else { return nil }
        if !lapsing.isEmpty { offered = OrderedIDs() }
        self.notReady = OrderedIDs()
        return { _ in
            if !lapsing.isEmpty { ResourcePool.lapse(lapsing) }
            for id in notReady { ResourcePool.stepOut(id) }
        }
    }
}

extension Operation {
    /// Releases reserved resources of a gated operation that is not ready. They must not wait until the queue has a free
    /// slot. The operation may be released once the answer is settled.
    static func settledGated(_ id: UInt, _ lifecycle: Lifecycle, _ queue: OperationQueue) {
        if lifecycle.contains(.ready) { queue.takeIn() } else { ResourcePool.stepOut(id) }
    }
}

extension OperationQueue.State {
    /// Adds the policies that an operation needs.
    mutating func ensurePolicies(for lifecycle: Lifecycle) {
        if lifecycle.contains(.gated) { _ = policy(orNew: ResourceOffers()) }
    }

    /// Whether a thread comes soon for operations that can start. If no thread comes, no resource stays reserved.
    fileprivate var callsThreadSoon: Bool {
        machine.schedule.hasRoom && kind.isPool && underlyingQueue == nil && policies.first(KeyPolicy.self) == nil
    }
}

/// Operations by their addresses, in the order in which they were recorded. The order of a `Set` differs between
/// processes, and the behavior of a manual executor with a seed would differ too (rule N4).
struct OrderedIDs {
    private var places: [Schedule.ID: Int] = [:]
    private var last = 0

    var isEmpty: Bool { places.isEmpty }
    /// The operations in order. O(n log n).
    var inOrder: [Schedule.ID] { places.isEmpty ? [] : places.sorted { $0.value < $1.value }.map(\.key) }

    mutating func insert(_ id: Schedule.ID) {
        guard places[id] == nil else { return }
        last += 1
        places[id] = last
    }

    mutating func remove(_ id: Schedule.ID) { places[id] = nil }
}
