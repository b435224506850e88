import HTTPCore
import Operations

/// One request in a shared transfer. It decodes the response for the handle of the request.
final class TransferParticipant<Value: Sendable>: RequestParticipant, SharedTransfer.Receiver {
    let waiter: Int
    private let key: CoalescingKey
    private let shared: SharedTransfer
    private let transfers: SharedTransfers
    private let serializer: HTTPSerializer<Value>
    private let promise: RequestPromise<Value, HTTPError>
    /// The value, if it was decoded as part of the operation.
    private let decoded = Locked<Result<Value, HTTPError>?>(nil)

    init(
        _ promise: RequestPromise<Value, HTTPError>, _ serializer: HTTPSerializer<Value>, waiter: Int,
        _ key: CoalescingKey, _ shared: SharedTransfer, in transfers: SharedTransfers
    ) {
        self.promise = promise
        self.serializer = serializer
        self.waiter = waiter
        self.key = key
        self.shared = shared
        self.transfers = transfers
    }

    var transfer: HTTPOperation? { shared.operation }

    func apply(_ demand: TransferDemand) { transfers.set(demand, of: waiter, key) }

    func cancel() {
        if shared.operation.isFinished { return endIfFinished() }
        shared.remove(waiter)
        transfers.leave(waiter, key)
        promise.end(.failure(HTTPError(.cancelled, url: promise.url)), transfer: shared.operation)
    }

    func endIfFinished() {
        guard let result = shared.operation.result else { return }
        switch result {
        case .success where decoded.withLock({ $0 == nil }): break  // The end of the transfer decodes.
        case .success, .failure: end(result)
        }
    }

    func beginProgress() -> TransferProgress? {
        shared.operation.whenProgress { [weak promise] in promise?.report($0.download) }
        return nil
    }

    func receive(_ answer: HTTPAnswer) {
        guard !promise.hasEnded else { return }
        let result = decode(answer)
        decoded.withLock { $0 = result }
    }

    func end(_ result: Result<HTTPAnswer, any Error>) {
        // The last report precedes the end, so that a progress stream is complete before it ends.
        promise.report(shared.operation.downloadProgress, isLast: true)
        switch result {
        case .success(let answer):
            guard !promise.hasEnded else { return }
            promise.end(decoded.withLock { $0 } ?? decode(answer), transfer: shared.operation)
        case .failure(let error):
            let failure = error as? HTTPError ?? HTTPError(HTTPError.Reason(error), url: promise.url)
            promise.end(.failure(failure), transfer: shared.operation)
        }
    }

    private func decode(_ answer: HTTPAnswer) -> Result<Value, HTTPError> {
        Result { () throws(HTTPError) in try serializer.value(answer.body, answer.response, url: promise.url) }
    }
}
