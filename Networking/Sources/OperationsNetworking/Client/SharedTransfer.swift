import HTTPCore
import HTTPTypes
import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A response and its body, before decoding.
struct HTTPAnswer: Sendable {
    let body: Data
    let response: HTTPResponse
}

extension HTTPSerializer where Value == HTTPAnswer {
    /// The serializer that accepts every status. Each caller that shares the transfer checks the status separately.
    static var answer: Self {
        Self(acceptableStatuses: nil) { body, response in HTTPAnswer(body: body, response: response) }
    }
}

/// A transfer, and the requests that receive its response.
final class SharedTransfer: Sendable {
    /// A request that receives the response.
    protocol Receiver: Sendable {
        var waiter: Int { get }
        /// Decodes the response as part of the operation.
        func receive(_ answer: HTTPAnswer)
        /// Ends the request after the end of the operation.
        func end(_ result: Result<HTTPAnswer, any Error>)
    }

    let operation: HTTPDataOperation<HTTPAnswer>
    /// The requests that have not ended; nil after the end of the transfer.
    private let receivers = Locked<[Int: any Receiver]?>([:])

    init(_ operation: HTTPDataOperation<HTTPAnswer>) {
        self.operation = operation
        operation.useValue { [weak self] answer in
            let receivers = self?.receivers.withLock { $0 } ?? [:]
            for receiver in receivers.values { receiver.receive(answer) }
        }
    }

    /// Adds a request. A request that joins after the response has arrived is decoded at the end of the transfer, and never on
    /// the caller's executor.
    func add(_ receiver: any Receiver) {
        let hasEnded = receivers.withLock { receivers in
            receivers?[receiver.waiter] = receiver
            return receivers == nil
        }
        if hasEnded, let result = operation.result { Task { receiver.end(result) } }
    }

    func remove(_ waiter: Int) {
        let old = receivers.withLock { $0?.removeValue(forKey: waiter) }
        withExtendedLifetime(old) {}
    }

    /// Ends all requests when the operation has finished and has left its queue.
    func endWithOperation() async {
        await operation.waitUntilFinished()
        let result = operation.result ?? .failure(operation.failure)
        let receivers = receivers.withLock { receivers in
            defer { receivers = nil }
            return receivers ?? [:]
        }
        for receiver in receivers.values { receiver.end(result) }
    }
}

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
        _ key: CoalescingKey,
        _ shared: SharedTransfer, in transfers: SharedTransfers
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
