#if Networking
public import HTTPCore
public import Operations

/// What becomes of the rest of a batch when a member fails (rule N3).
public enum HTTPBatchFailurePolicy: Sendable {
    /// It goes on.
    case goesOn
    /// It is cancelled. A member that was cancelled by somebody is no failure.
    case cancelsTheRest
}

extension HTTPClientQueue {
    /// Begins requests that belong together (rule N3).
    ///
    /// - Parameters:
    ///   - members: Requests, downloads, operations. None at all make a batch that completes.
    ///   - measuresFirst: How long the bodies will be is asked by HEAD, in this client's queue, before any member begins:
    ///     so the progress in bytes is exact from the first body on. A HEAD that fails, or says no length, is no failure;
    ///     the length of its member is known when the answer says so, or has come. Members that are no plain GET are not
    ///     asked for.
    ///   - onFailure: What becomes of the rest.
    public func batch<Value>(
        _ members: [HTTPBatchMember<Value>], measuresFirst: Bool = false,
        onFailure: HTTPBatchFailurePolicy = .goesOn
    ) -> HTTPBatch<Value> {
        let batch = HTTPBatch(members, client: self, measuresFirst: measuresFirst, onFailure: onFailure)
        batches.addOperation(batch)
        return batch
    }

    /// The same for requests whose answers are read in the same way.
    public func batch<Value>(
        _ requests: [HTTPOperationRequest], as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal, measuresFirst: Bool = false,
        onFailure: HTTPBatchFailurePolicy = .goesOn
    ) -> HTTPBatch<Value> {
        batch(
            requests.map { .request($0, as: serializer, priority: priority) }, measuresFirst: measuresFirst,
            onFailure: onFailure)
    }

    /// The same for operations of any kind. Each that succeeds is its own value.
    public func batch(
        _ operations: [AnyHTTPOperation], measuresFirst: Bool = false, onFailure: HTTPBatchFailurePolicy = .goesOn
    ) -> HTTPBatch<AnyHTTPOperation> {
        batch(operations.map { .any($0) }, measuresFirst: measuresFirst, onFailure: onFailure)
    }
}
#endif
