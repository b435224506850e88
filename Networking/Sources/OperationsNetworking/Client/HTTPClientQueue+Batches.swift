public import HTTPCore
public import Operations

/// The treatment of the remaining members of a batch after one member fails.
public enum HTTPBatchFailurePolicy: Sendable {
    /// The remaining members continue, and the batch does not fail.
    case continueRemaining
    /// The remaining members are cancelled, and the batch fails with the error. A cancelled member is not a failure.
    case cancelRemaining
}

extension HTTPClientQueue {
    /// Begins a batch of requests.
    ///
    /// - Parameters:
    ///   - members: Requests, downloads and operations. An empty batch completes at once.
    ///   - measuresFirst: Whether the client asks for the length of each body by HEAD before any member begins. The progress in
    ///     bytes is then exact from the first body on. A HEAD request that fails or states no length is not a failure of the
    ///     batch. Only plain GET requests are measured.
    ///   - onFailure: The treatment of the remaining members after a failure.
    public func batch<Value>(
        _ members: [HTTPBatchMember<Value>], measuresFirst: Bool = false,
        onFailure: HTTPBatchFailurePolicy = .continueRemaining
    ) -> HTTPBatch<Value> {
        let batch = HTTPBatch(members, client: self, measuresFirst: measuresFirst, onFailure: onFailure)
        batches.addOperation(batch)
        return batch
    }

    /// Begins a batch of requests that use the same serializer.
    public func batch<Value>(
        _ requests: [HTTPRequestDescription], as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal, measuresFirst: Bool = false,
        onFailure: HTTPBatchFailurePolicy = .continueRemaining
    ) -> HTTPBatch<Value> {
        batch(
            requests.map { .request($0, as: serializer, priority: priority) }, measuresFirst: measuresFirst,
            onFailure: onFailure)
    }

    /// Begins a batch of operations of any kind. The value of each member is the operation itself, if the operation succeeds.
    public func batch(
        _ operations: [HTTPOperation], measuresFirst: Bool = false,
        onFailure: HTTPBatchFailurePolicy = .continueRemaining
    ) -> HTTPBatch<HTTPOperation> {
        batch(operations.map { .any($0) }, measuresFirst: measuresFirst, onFailure: onFailure)
    }
}
