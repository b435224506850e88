public import HTTPCore
public import Operations

/// A handle to a request of an `HTTPClientQueue`.
public typealias HTTPRequestHandle<Value: Sendable> = RequestHandle<Value, HTTPError>

/// A handle to a request whose transfer other requests may share.
///
/// Equal requests share one transfer, and each request has its own handle. A handle cancels, pauses and resumes its own request
/// only. The transfer stops when its last request is cancelled. The transfer pauses when all its requests are paused, and
/// resumes when one of them resumes or when an unpaused request joins.
///
/// A deallocated handle does not cancel its request. A paused request resumes when its handle is deallocated, because no caller
/// could resume the request afterwards. All members are safe to use on any thread.
public final class RequestHandle<Value: Sendable, Failure: Error>: Sendable {
    package let promise: RequestPromise<Value, Failure>

    package init(_ promise: RequestPromise<Value, Failure>) { self.promise = promise }

    deinit { promise.update { $0.isPaused = false } }

    /// The requested address without user name and password.
    public var url: String { promise.url }

    /// The value. The cancellation of the awaiting task ends the wait, and cancels the request if no other task awaits it.
    ///
    /// The cancelled request leaves its transfer, as with ``cancel()``. Other requests of the transfer continue.
    ///
    /// The priority of the awaiting task does not change the priority of the request.
    ///
    /// - Throws: The failure of the request. The failure is a cancellation if the request or the awaiting task was cancelled.
    public var value: Value {
        get async throws(Failure) { try await promise.value }
    }

    /// The value or the failure; nil until the request has ended.
    public var result: Result<Value, Failure>? { promise.result }

    /// Cancels the request, so that ``value`` throws. Other requests of the same transfer continue. No effect after the request
    /// has ended.
    public func cancel() { promise.cancel() }

    /// Pauses the request. The transfer pauses once all its requests are paused.
    ///
    /// If no transfer is running, the pause takes effect when one begins: a transfer whose requests are all paused begins
    /// paused. No effect after the request has ended.
    public func pause() { promise.update { $0.isPaused = true } }

    /// Resumes the request, and with it the transfer.
    public func resume() { promise.update { $0.isPaused = false } }

    /// Whether the request is paused. The value is false after the request has ended.
    public var isPaused: Bool { promise.demand.isPaused }

    /// The priority of the request. The transfer has the highest priority of its requests.
    public var priority: Operation.QueuePriority {
        get { promise.demand.queuePriority }
        set { promise.update { $0.priority = newValue.rawValue } }
    }

    /// The operation that runs the transfer; nil if the request has no transfer at present.
    ///
    /// The request of an `HTTPClientQueue` always has a transfer, also after its end. The request for an image has a transfer
    /// only while the loader loads the image from the network. Pausing, resuming or cancelling the operation affects all
    /// requests that share the transfer.
    public var transfer: HTTPOperation? { promise.transfer }

    /// A stream of the received bytes in significant steps. The stream ends with the request, and ends immediately if no
    /// transfer is necessary. Each access creates a new stream.
    ///
    /// The step of an `HTTPClientQueue` is one percent, and the step of an `ImageLoader` is part of its configuration. If the
    /// length of the body is unknown, the step is 64 KiB.
    public var progressUpdates: AsyncStream<TransferProgress> { promise.progressUpdates }
}

extension TransferDemand {
    package init(_ priority: Operation.QueuePriority) { self.init(priority: priority.rawValue) }

    package var queuePriority: Operation.QueuePriority { .init(rawValue: priority) ?? .normal }
}
