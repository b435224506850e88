import OperationsPrimitives
import SchedulerCore

/// The gated operations of a queue that resources are reserved for, and those that are not ready for their resources. See
/// `Admit.swift`.
///
/// A reservation, and a place in the line of a resource, hold as long as the queue has a free slot, the operation has its
/// turn, and a thread is likely to come. Otherwise operations of other queues that could run would wait for an operation that
/// cannot.
final class ResourceOffers: QueuePolicy {
    let rank = QueuePolicyRank.resources
    // In the order of the records, which a `Set` would not keep. The order of a `Set` differs between processes, and so would the
    // behavior of a manual executor with a seed (rule N4).
    private var offered = KeyedList<Schedule.ID>()
    private var lapsing: [Schedule.ID] = []
    private var notReady = KeyedList<Schedule.ID>()
    /// The operations that wait in line for resources. Some may have left the line meanwhile.
    private var inLine = KeyedList<Schedule.ID>()
    /// Whether the queue gives way to others in the lines, as the ledger knows it; nil while no operation is in line.
    private var givesWay: Bool?
    /// The number of changes that were passed to the ledger.
    private var changes: UInt64 = 0

    var hasOperationsInLine: Bool { inLine.count > 0 }

    /// Notes that an operation has released its slot because it waits in line for resources.
    func joinsLine(_ operation: Operation) { _ = inLine.add(operation.scheduleID, key: operation.scheduleID) }

    func changed(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool, in state: inout OperationQueue.State) {
        guard lifecycle.contains(.gated) else { return }
        // An operation that ends without work needs no resources. It may wait long for a slot, so other operations overtake it
        // in the lines of its resources.
        if lifecycle.isExempt {
            stepsOut(operation)
        } else if lifecycle.isReadyInQueue {
            _ = offered.add(operation.scheduleID, key: operation.scheduleID)
        }
    }

    func claimed(
        _ operation: Operation, _ lifecycle: Lifecycle, at reading: PolicyReading?, in state: inout OperationQueue.State
    ) {
        _ = offered.remove(operation.scheduleID)
        _ = inLine.remove(operation.scheduleID)
    }

    func notClaimed(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        if lifecycle.contains(.gated) { stepsOut(operation) }
    }

    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        _ = offered.remove(operation.scheduleID)
        _ = inLine.remove(operation.scheduleID)
    }

    /// Ends the offer to a ready operation that waits for its turn. The operation requests again when it has its turn.
    func hasNoTurn(_ id: Schedule.ID) { if offered.remove(id) != nil { lapsing.append(id) } }

    /// Removes an operation from the lines of the resources that it waits for.
    private func stepsOut(_ operation: Operation) {
        _ = offered.remove(operation.scheduleID)
        _ = notReady.add(operation.scheduleID, key: operation.scheduleID)
    }

    func takeAction(in state: inout OperationQueue.State) -> PolicyAction? {
        if !state.callsThreadSoon, offered.count > 0 {
            lapsing += offered.elements
            offered = KeyedList()
        }
        let change = takeChange(givesWay: !state.machine.schedule.hasRoom || state.mayKeepWaiting)
        guard !lapsing.isEmpty || notReady.count > 0 || change != nil else { return nil }
        let (lapsing, notReady) = (lapsing, notReady.elements)
        (self.lapsing, self.notReady) = ([], KeyedList())
        return { queue in
            if !lapsing.isEmpty { ResourcePool.lapse(lapsing) }
            for id in notReady { ResourcePool.stepOut(id) }
            if let change { ResourcePool.setGivesWay(queue, change.givesWay, change: change.number) }
        }
    }

    /// Returns the change of the queue that the ledger does not know yet. Numbered, because threads may act on two changes in either
    /// order.
    private func takeChange(givesWay present: @autoclosure () -> Bool) -> (givesWay: Bool, number: UInt64)? {
        let new = hasOperationsInLine ? present() : nil
        guard givesWay != new else { return nil }
        givesWay = new
        changes += 1
        return new.map { ($0, changes) }
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
        machine.schedule.hasRoom && kind.isPool && underlyingQueue == nil
    }

    /// Whether the operations run on a thread that other code may keep for any time: the main thread, or a thread of Dispatch.
    fileprivate var mayKeepWaiting: Bool { kind.isMain || underlyingQueue != nil }
}
