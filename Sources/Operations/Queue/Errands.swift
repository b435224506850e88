@_spi(Hosting) import KeyValueObserving
import SchedulerCore

/// What a queue has to do as soon as nobody has its lock. Guarded by that lock; most queues have none.
final class Errands {
    /// The properties whose observers have to be told.
    var news: [PropertyKey] = []
    /// Gated operations that may start, and for which resources are kept as long as the queue has room. See `Admit.swift`.
    var offered = OrderedIDs()
    /// When the queue, which has been closed for want of a permit, is to be opened again.
    var opening: (time: UInt64, of: Throttle)?
    /// Who has got a place of a bounded queue.
    var admitted: [UnsafeContinuation<Void, any Error>] = []
    /// Gated operations that turned out not to be ready.
    var notReady = OrderedIDs()
    /// Released by whoever takes the errands on.
    var dropped: MemberList?

    /// Errands that somebody has taken on. An object: where there are none, that is one word to look at.
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

    /// Takes on what is due.
    @inline(never)
    func takeErrands() -> Errands.Due? {
        guard let errands else { return nil }
        // A thread comes soon for what may start; if not, nothing is kept any more.
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

    /// A gated operation leaves the lines of the resources that it waits for.
    mutating func noteNotReady(_ id: Schedule.ID) {
        let errands = ownErrands()
        errands.offered.remove(id)
        errands.notReady.insert(id)
    }

    /// An operation leaves the queue that is gated, keyed or bounded.
    mutating func leftSpecial(_ operation: Operation, _ lifecycle: Lifecycle) {
        if lifecycle.contains(.keyed) { leftKeyed(operation.scheduleID) }
        if lifecycle.contains(.gated) { throttle?.forget(operation.scheduleID) }
        if let bound {
            bound.waitsNoMore(operation.scheduleID)
            if operation.givesUpPlace { vacate(bound) }
        }
    }

    /// Something holds the operation back since it became ready.
    mutating func claimFailed(_ id: Schedule.ID, _ lifecycle: Lifecycle) {
        if lifecycle.contains(.keyed) { heldBackKeyed(id) }
        if lifecycle.contains(.gated) { noteNotReady(id) }
    }

    mutating func claimedSpecial(_ id: Schedule.ID, _ lifecycle: Lifecycle) {
        if lifecycle.contains(.gated) { errands?.offered.remove(id) }
        if lifecycle.contains(.keyed) { startedKeyed(id) }
        if lifecycle.contains(.bounded) { bound?.waitsNoMore(id) }
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
        tell(errands.news)
    }
}

/// Operations by their addresses, in the order noted. The order of a `Set` would change from process to process, and with it
/// what a manual executor does for a seed (rule N4).
struct OrderedIDs {
    private var places: [Schedule.ID: Int] = [:]
    private var last = 0

    var isEmpty: Bool { places.isEmpty }
    /// O(n log n).
    var inOrder: [Schedule.ID] { places.sorted { $0.value < $1.value }.map(\.key) }

    mutating func insert(_ id: Schedule.ID) {
        guard places[id] == nil else { return }
        last += 1
        places[id] = last
    }

    mutating func remove(_ id: Schedule.ID) { places[id] = nil }
}
