@_spi(Hosting) import KeyValueObserving
import SchedulerCore

/// The work that a queue has to do as soon as no thread has its lock. Guarded by that lock. Most queues have none.
final class Errands {
    /// The properties whose observers have to be notified.
    var news: [PropertyKey] = []
    /// Gated operations that may start. Resources are reserved for them as long as the queue has a free slot. See
    /// `Admit.swift`.
    var offered = OrderedIDs()
    /// The time at which the queue, which has no permit left, is opened again.
    var opening: (time: UInt64, of: Throttle)?
    /// The callers that have received a place of the queue's capacity.
    var admitted: [UnsafeContinuation<Void, any Error>] = []
    /// Gated operations that were found not to be ready.
    var notReady = OrderedIDs()
    /// A list that the thread that takes the errands releases.
    var dropped: MemberList?

    /// Errands that a thread has taken. A class instance, so that its absence costs one word.
    final class Due {
        let news: [PropertyKey]
        let lapsing: [Schedule.ID]
        let opening: (time: UInt64, of: Throttle)?
        let admitted: [UnsafeContinuation<Void, any Error>]
        let notReady: [Schedule.ID]
        private let dropped: MemberList?

        init(_ errands: Errands, isLapsing: Bool) {
            news = errands.news
            lapsing = isLapsing ? errands.offered.inOrder : []
            opening = errands.opening
            admitted = errands.admitted
            notReady = errands.notReady.inOrder
            dropped = errands.dropped
        }
    }
}

extension OperationQueue.State {
    mutating func ownErrands() -> Errands {
        if let errands { return errands }
        let new = Errands()
        errands = new
        return new
    }

    /// Returns the work that is due.
    @inline(never)
    func takeErrands() -> Errands.Due? {
        guard let errands else { return nil }
        // A thread comes soon for operations that can start. If no thread comes, no resource stays reserved.
        let comesSoon = schedule.hasRoom && kind.isPool && underlyingQueue == nil && keyed == nil
        let isLapsing = !comesSoon && !errands.offered.isEmpty
        guard
            isLapsing || !errands.news.isEmpty || errands.opening != nil || !errands.admitted.isEmpty
                || !errands.notReady.isEmpty || errands.dropped != nil
        else {
            return nil
        }
        defer {
            errands.news = []
            errands.opening = nil
            errands.admitted = []
            errands.notReady = OrderedIDs()
            errands.dropped = nil
            if isLapsing { errands.offered = OrderedIDs() }
        }
        return Errands.Due(errands, isLapsing: isLapsing)
    }

    mutating func noteOffer(_ id: Schedule.ID) { ownErrands().offered.insert(id) }

    /// Removes a gated operation from the lines of the resources that it waits for.
    mutating func noteNotReady(_ id: Schedule.ID) {
        let errands = ownErrands()
        errands.offered.remove(id)
        errands.notReady.insert(id)
    }

    /// Updates the state for a gated, keyed or bounded operation that leaves the queue.
    mutating func leftSpecial(_ operation: Operation, _ lifecycle: Lifecycle) {
        if lifecycle.contains(.keyed) { leftKeyed(operation.scheduleID) }
        if let capacityGate {
            capacityGate.waitsNoMore(operation.scheduleID)
            if operation.releasePlace() { vacate(capacityGate) }
        }
    }

    /// Updates the state for an operation that is no longer ready at its claim.
    mutating func claimFailed(_ id: Schedule.ID, _ lifecycle: Lifecycle) {
        if lifecycle.contains(.keyed) { heldBackKeyed(id) }
        if lifecycle.contains(.gated) { noteNotReady(id) }
    }

    mutating func claimedSpecial(_ id: Schedule.ID, _ lifecycle: Lifecycle) {
        if lifecycle.contains(.gated) { errands?.offered.remove(id) }
        if lifecycle.contains(.keyed) { startedKeyed(id) }
        if lifecycle.contains(.bounded) { capacityGate?.waitsNoMore(id) }
    }
}

extension OperationQueue {
    @inline(never)
    final func run(_ errands: Errands.Due) {
        HeldLocks.assertNone()
        for waiter in errands.admitted { waiter.resume() }
        if !errands.lapsing.isEmpty { ResourcePool.lapse(errands.lapsing) }
        for id in errands.notReady { ResourcePool.stepOut(id) }
        if let (time, throttle) = errands.opening { scheduleOpening(at: time, of: throttle) }
        notify(errands.news)
    }
}

/// Operations by their addresses, in the order in which they were recorded. The order of a `Set` differs between
/// processes, and the behavior of a manual executor with a seed would differ too (rule N4).
struct OrderedIDs {
    private var places: [Schedule.ID: Int] = [:]
    private var last = 0

    var isEmpty: Bool { places.isEmpty }
    /// The operations in order. O(n log n).
    var inOrder: [Schedule.ID] { places.sorted { $0.value < $1.value }.map(\.key) }

    mutating func insert(_ id: Schedule.ID) {
        guard places[id] == nil else { return }
        last += 1
        places[id] = last
    }

    mutating func remove(_ id: Schedule.ID) { places[id] = nil }
}
