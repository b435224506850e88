#if Networking
public import HTTPCore
import HTTPTypes
public import Operations

/// One of the requests of an `HTTPBatch`, and what its value is.
public struct HTTPBatchMember<Value: Sendable>: Sendable {
    /// A member that has been begun.
    struct Running: Sendable {
        let steering: any Steerable
        let operation: AnyHTTPOperation
        /// Throws why there is none.
        let value: @Sendable () async throws -> Value
    }

    /// Without a user name and a password.
    let url: String
    let begin: @Sendable (HTTPClientQueue) -> Running
    /// What says how long its body will be; nil if nothing would.
    let measure: @Sendable (HTTPClientQueue) -> HTTPOperationRequest?

    /// A request that is completed with the client's address and fields, and may share its transfer with others (rule N2).
    public static func request(
        _ request: HTTPOperationRequest, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> Self {
        Self(url: HTTPAddress.redacted(request.url)) { client in
            let token = client.load(request, as: serializer, priority: priority)
            return Running(steering: token, operation: token.operation) { try await token.value }
        } measure: { client in
            client.completed(request, for: serializer).measuring(isPlain: false)
        }
    }

    /// An operation of the caller's. It is added to the client's queue, unless it is in a queue already; its session is its
    /// own.
    public static func operation(_ operation: HTTPOperation<Value>) -> Self {
        member(operation) { try await operation.value }
    }

    fileprivate static func member(
        _ operation: AnyHTTPOperation, value: @escaping @Sendable () async throws -> Value
    ) -> Self {
        Self(url: HTTPAddress.redacted(operation.request.url)) { client in
            // Somebody else may add it at the same time: then it is his.
            if operation.taskExecutor == nil { try? client.enqueue(operation) }
            return Running(steering: operation, operation: operation, value: value)
        } measure: { _ in
            guard operation.taskExecutor == nil, !operation.isFinished else { return nil }
            return operation.request.measuring(isPlain: operation.transfer.sink.prefersRanges)
        }
    }
}

extension HTTPBatchMember where Value == String {
    /// A download to a file (rule D1). Its value is the file's path.
    public static func download(
        _ url: String, to target: String, digest: HTTPDigest? = nil, priority: Operation.QueuePriority = .normal
    ) -> Self {
        let request = HTTPOperationRequest(.get, url)
        return Self(url: HTTPAddress.redacted(url)) { client in
            let operation = client.download(url, to: target, digest: digest, priority: priority)
            return Running(steering: operation, operation: operation) { try await operation.value }
        } measure: { client in
            client.completed(request).measuring(isPlain: true)
        }
    }

    /// The same for a download of the caller's.
    public static func operation(_ operation: HTTPDownloadOperation) -> Self {
        member(operation) { try await operation.value }
    }
}

extension HTTPBatchMember where Value == AnyHTTPOperation {
    /// The same for any operation of the caller's. Its value is the operation itself, when that has succeeded.
    public static func any(_ operation: AnyHTTPOperation) -> Self {
        member(operation) {
            try await operation.waitForEnd()
            if case .succeeded = operation.operationOutcome { return operation }
            throw operation.failure
        }
    }
}

/// What a batch stops, holds and lets go.
protocol Steerable: Sendable {
    func cancel()
    func pause()
    func resume()
}

extension AnyHTTPOperation: Steerable {}
extension HTTPToken: Steerable {}
extension Wish: Steerable {}

extension HTTPOperationRequest {
    /// What asks how long the answer will be; nil where HEAD says nothing about it.
    ///
    /// - Parameter isPlain: The body is not to be compressed.
    fileprivate func measuring(isPlain: Bool) -> HTTPOperationRequest? {
        guard method == .get, fields[.range] == nil else { return nil }
        var head = self
        head.method = .head
        head.body = .none
        if isPlain, head.fields[.acceptEncoding] == nil { head.fields[.acceptEncoding] = "identity" }
        return head
    }
}

extension HTTPAnswer {
    /// How long the body of a GET would be; nil if that was not said, or is not what will come of it.
    var lengthOfBody: Int64? {
        guard response.status.kind == .successful, response.headerFields.isIdentityCoded,
            let length = response.contentLength, length >= 0
        else { return nil }
        return length
    }
}
#endif
