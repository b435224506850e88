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
