import Operations

/// The transfers that requests of a client may join. The coalescer decides, and this class acts.
final class SharedTransfers: Sendable {
    private struct State {
        var coalescer = Coalescer<CoalescingKey>()
        /// The transfers that have not ended, by number.
        var transfers: [Int: SharedTransfer] = [:]
    }

    private let state = Locked(State())

    /// Joins the transfer for a key. Otherwise `new` becomes the transfer for the key, and the caller begins it.
    func join(
        _ key: CoalescingKey, _ demand: TransferDemand, new: SharedTransfer
    ) -> (waiter: Int, Coalescer<CoalescingKey>.Joining, SharedTransfer) {
        state.withLock { state in
            // `cancelAll()` or another caller may have cancelled the operation without the waiters. Do not join such an
            // operation.
            if let transfer = state.coalescer.transfer(of: key),
                state.transfers[transfer]?.operation.isCancelled == true
            {
                state.coalescer.ended(transfer, of: key)
            }
            let (waiter, joining) = state.coalescer.join(key, demand)
            switch joining {
            case .begin(let transfer):
                state.transfers[transfer] = new
                return (waiter, joining, new)
            case .joined(let change): return (waiter, joining, state.transfers[change.transfer]!)
            }
        }
    }

    /// Removes a transfer whose operation is about to finish, and ends its requests when the operation has finished.
    func ended(_ transfer: Int, of key: CoalescingKey) {
        let old = state.withLock { state in
            state.coalescer.ended(transfer, of: key)
            return state.transfers.removeValue(forKey: transfer)
        }
        if let old { Task { await old.endWithOperation() } }
    }

    func leave(_ waiter: Int, _ key: CoalescingKey) {
        let (leaving, stopped) = state.withLock { state in
            let leaving = state.coalescer.leave(waiter)
            guard case .stop(let transfer) = leaving else { return (leaving, nil as SharedTransfer?) }
            return (leaving, state.transfers[transfer])
        }
        if case .continues(let change) = leaving { apply(change, to: key) }
        stopped?.operation.cancel()
    }

    func set(_ demand: TransferDemand, of waiter: Int, _ key: CoalescingKey) {
        let change = state.withLock { $0.coalescer.set(demand, of: waiter) }
        if let change { apply(change, to: key) }
    }

    /// Applies a changed demand to the operation, repeated until the operation has the latest demand.
    ///
    /// A caller may have paused the operation itself. Only a change of the pause affects such an operation.
    func apply(_ change: Coalescer<CoalescingKey>.Change, to key: CoalescingKey) {
        guard change.new != change.old else { return }
        let changesPause = change.new.isPaused != change.old.isPaused
        var applied: TransferDemand?
        while true {
            let (operation, demand) = state.withLock { state in
                let isCurrent = state.coalescer.transfer(of: key) == change.transfer
                return (state.transfers[change.transfer]?.operation, isCurrent ? state.coalescer.demand(of: key) : nil)
            }
            guard let operation, let demand, demand != applied else { return }
            operation.queuePriority = demand.queuePriority
            if changesPause { if demand.isPaused { operation.pause() } else { operation.resume() } }
            applied = demand
        }
    }
}
