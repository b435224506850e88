public import HTTPCore
import HTTPTypes
public import Operations

/// A request of an `HTTPBatch`, with the type of its value.
public struct HTTPBatchMember<Value: Sendable>: Sendable {
    /// A member that has begun.
    struct Running: Sendable {
        let control: any RequestControl
        let operation: HTTPOperation
        /// Returns the value, or throws the error of the member.
        let value: @Sendable () async throws -> Value
    }

    /// The address, without user name and password.
    let url: String
    let begin: @Sendable (HTTPClientQueue) -> Running
    /// Makes the request that asks for the length of the body; nil if no request can.
    let measure: @Sendable (HTTPClientQueue) -> HTTPRequestDescription?

    /// Returns a member for a request. The client completes the request with its base and fields. The request may share its
    /// transfer with other requests.
    public static func request(
        _ request: HTTPRequestDescription, as serializer: HTTPSerializer<Value>,
        priority: Operation.QueuePriority = .normal
    ) -> Self {
        Self(url: HTTPAddress.redacted(request.url)) { client in
            let handle = client.load(request, as: serializer, priority: priority)
            // A request of a client always has a transfer.
            return Running(control: handle, operation: handle.transfer!) { try await handle.value }
        } measure: { client in
            client.completed(request, for: serializer).measuring(isPlain: false)
        }
    }

    /// Returns a member for an existing operation. The client adds the operation to its queue unless the operation is in a
    /// queue already. The operation keeps its session.
    public static func operation(_ operation: HTTPDataOperation<Value>) -> Self {
        member(operation) { try await operation.value }
    }

    fileprivate static func member(
        _ operation: HTTPOperation, value: @escaping @Sendable () async throws -> Value
    ) -> Self {
        Self(url: HTTPAddress.redacted(operation.request.url)) { client in
            // Another thread may add the operation to a queue at the same time. The operation then stays in that queue.
            if operation.taskExecutor == nil { client.add(operation) }
            return Running(control: operation, operation: operation, value: value)
        } measure: { _ in
            guard operation.taskExecutor == nil, !operation.isFinished else { return nil }
            return operation.request.measuring(isPlain: operation.transfer.sink.prefersRanges)
        }
    }
}

extension HTTPBatchMember where Value == String {
    /// Returns a member that downloads to a file. The value is the path of the file.
    public static func download(
        _ url: String, to target: String, digest: HTTPDigest? = nil, priority: Operation.QueuePriority = .normal
    ) -> Self {
        let request = HTTPRequestDescription(.get, url)
        return Self(url: HTTPAddress.redacted(url)) { client in
            let operation = client.download(url, to: target, digest: digest, priority: priority)
            return Running(control: operation, operation: operation) { try await operation.value }
        } measure: { client in
            client.completed(request).measuring(isPlain: true)
        }
    }

    /// Returns a member for an existing download.
    public static func operation(_ operation: HTTPDownloadOperation) -> Self {
        member(operation) { try await operation.value }
    }
}

extension HTTPBatchMember where Value == HTTPOperation {
    /// Returns a member for an existing operation of any kind. The value is the operation itself, if the operation succeeds.
    public static func any(_ operation: HTTPOperation) -> Self {
        member(operation) {
            try await operation.waitForOutcome()
            if case .succeeded = operation.operationOutcome { return operation }
            throw operation.failure
        }
    }
}

/// A request that a batch can cancel, pause and resume.
protocol RequestControl: Sendable {
    func cancel()
    func pause()
    func resume()
}

extension HTTPOperation: RequestControl {}
extension RequestHandle: RequestControl {}

extension HTTPRequestDescription {
    /// Returns the `HEAD` request that asks for the length of the response; nil if `HEAD` cannot answer that.
    ///
    /// - Parameter isPlain: Whether the body must not be compressed.
    fileprivate func measuring(isPlain: Bool) -> HTTPRequestDescription? {
        guard method == .get, fields[.range] == nil else { return nil }
        var head = self
        head.method = .head
        head.body = .none
        if isPlain, head.fields[.acceptEncoding] == nil { head.fields[.acceptEncoding] = "identity" }
        return head
    }
}

extension HTTPAnswer {
    /// The length of the body of a GET; nil if the server does not state it, or sends the body compressed.
    var lengthOfBody: Int64? {
        guard response.status.kind == .successful, response.headerFields.isIdentityCoded,
            let length = response.contentLength, length >= 0
        else { return nil }
        return length
    }
}
