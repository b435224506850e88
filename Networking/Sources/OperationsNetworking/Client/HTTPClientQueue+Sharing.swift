import HTTPCore
import HTTPTypes
import Operations

extension HTTPClientQueue {
    /// Adds a completed request, which joins the transfer of identical requests or begins one.
    func join<Value>(
        _ request: HTTPRequestDescription, as serializer: HTTPSerializer<Value>, _ demand: TransferDemand
    ) -> HTTPRequestHandle<Value> {
        let mayShare = sharesTransfers && request.method.isSafe && request.body == .none
        // Created before the lock is taken, and discarded if a transfer exists already.
        let new = HTTPDataOperation(request, as: .answer, session: session)
        // Applied before another caller can join the transfer and change the demand.
        new.queuePriority = demand.queuePriority
        if demand.isPaused { new.pause() }
        let key = CoalescingKey(request, changes: session.changeCount, isShared: mayShare)
        let (waiter, joining, shared) = transfers.join(key, demand, new: SharedTransfer(new))
        let url = new.transfer.address?.redacted ?? HTTPAddress.redacted(request.url)
        let promise = RequestPromise<Value, HTTPError>(
            url: url, cancellation: HTTPError(.cancelled, url: url), demand: demand)
        let participant = TransferParticipant(promise, serializer, waiter: waiter, key, shared, in: transfers)
        promise.begin(participant)
        shared.add(participant)
        switch joining {
        case .begin(let transfer):
            new.transfer.addListener { [transfers] kind, _ in
                if case .finished = kind { transfers.ended(transfer, of: key) }
            }
            add(new)
        case .joined(let change):
            ledger.joined()
            transfers.apply(change, to: key)
        }
        return HTTPRequestHandle(promise)
    }

    /// Adds a request with a demand. See ``load(_:as:priority:)``.
    package func load<Value>(
        _ request: HTTPRequestDescription, as serializer: HTTPSerializer<Value>, _ demand: TransferDemand
    ) -> HTTPRequestHandle<Value> {
        join(completed(request, for: serializer), as: serializer, demand)
    }
}
