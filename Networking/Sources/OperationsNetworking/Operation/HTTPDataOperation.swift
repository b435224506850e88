import HTTPCore
import HTTPTypes
import Operations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An HTTP request as an operation with a typed result, the decoded response.
///
/// ```swift
/// import HTTPTypes
/// import OperationsNetworking
///
/// let photo = HTTPDataOperation(HTTPRequestDescription(.get, "https://example.org/photo.json"), as: .json(Photo.self))
/// queue.addOperation(photo)
/// print(try await photo.value)
/// ```
public final class HTTPDataOperation<Value: Sendable>: HTTPOperation, @unchecked Sendable {
    private let serializer: HTTPSerializer<Value>
    private let sink: MemorySink
    // The operation's task writes this value before the operation ends. Other threads read the value after the end.
    nonisolated(unsafe) private var decoded: Value?
    /// A use of the value before the operation ends.
    private let use = Locked<(@Sendable (Value) -> Void)?>(nil)

    /// Creates an operation that decodes the response.
    ///
    /// - Parameters:
    ///   - request: The request to send. Without a field `Accept`, the request gets that of the serializer.
    ///   - serializer: The serializer that checks and decodes the response.
    ///   - session: The session that runs the transfer.
    public convenience init(
        _ request: HTTPRequestDescription, as serializer: HTTPSerializer<Value>, session: HTTPSession = .shared
    ) {
        self.init(request, source: nil, as: serializer, session: session)
    }

    /// Creates an operation that produces its body while it is sent. `source` replaces the body of the request.
    public convenience init(
        _ request: HTTPRequestDescription, sending source: HTTPBodySource, as serializer: HTTPSerializer<Value>,
        session: HTTPSession = .shared
    ) {
        self.init(request, source: source, as: serializer, session: session)
    }

    private init(
        _ request: HTTPRequestDescription, source: HTTPBodySource?, as serializer: HTTPSerializer<Value>,
        session: HTTPSession
    ) {
        self.serializer = serializer
        sink = MemorySink(limit: request.limits.maxBufferedBytes)
        super.init(request.accepting(serializer), session: session, sink: sink, source: source)
    }

    /// Returns a new operation for the same request, without the history of this operation. A body that can be sent only once
    /// makes the copy fail with `bodyNotRepeatable`.
    public func copy() -> HTTPDataOperation {
        HTTPDataOperation(request, source: transfer.source, as: serializer, session: session)
    }

    /// The decoded response, available when the operation has finished and left its queue.
    ///
    /// Any number of tasks may await the value. When the last of them is cancelled, the operation is cancelled too.
    ///
    /// - Throws: `HTTPError`, also after cancelling; the error of a policy, such as `OperationTimeout`.
    public var value: Value {
        get async throws {
            try await waiters.wait(for: self)
            if let decoded { return decoded }
            throw failure
        }
    }

    /// The decoded answer or the failure; nil until the operation has finished.
    public var result: Result<Value, any Error>? {
        isFinished ? decoded.map { .success($0) } ?? .failure(failure) : nil
    }

    // Callers that share a transfer check the status after the transfer has ended. This check is too late for a retry, and does
    // not happen if the transfer fails.
    override var complaint: HTTPError? {
        guard Value.self == HTTPAnswer.self else { return nil }
        let (head, url) = transfer.record.withLock { ($0.response, $0.url) }
        return head.flatMap { head in objection(to: head).map { HTTPError($0, url: url, response: head) } }
    }

    override func objection(to head: HTTPResponse) -> HTTPError.Reason? {
        guard Value.self == HTTPAnswer.self else { return serializer.objection(to: head) }
        return 200..<300 ~= head.status.code ? nil : .unacceptableStatus(head.status.code)
    }

    override func complete() async throws {
        let (head, url) = transfer.record.withLock { ($0.response, $0.url) }
        guard let head else { return }
        let value = try serializer.value(sink.take(), head, url: url)
        // If the operation is cancelled during decoding, the caller must get the cancellation and not the value.
        try Task.checkCancellation()
        decoded = value
        use.withLock { $0 }?(value)
    }

    /// Sets a use of the value, which the operation's task runs before the operation ends.
    func useValue(_ use: @escaping @Sendable (Value) -> Void) { self.use.withLock { $0 = use } }
}

extension HTTPRequestDescription {
    /// Returns the request with the serializer's field `Accept`, unless the request has one or the serializer accepts
    /// everything.
    func accepting(_ serializer: HTTPSerializer<some Any>) -> HTTPRequestDescription {
        let accept = serializer.accept
        guard fields[.accept] == nil, accept != "*/*" else { return self }
        var request = self
        request.fields[.accept] = accept
        return request
    }
}

extension HTTPDataOperation where Value == Data {
    /// Creates an operation whose value is the bytes of the body. Every content type is accepted; the status must be one of
    /// success.
    public convenience init(_ request: HTTPRequestDescription, session: HTTPSession = .shared) {
        self.init(request, as: .data, session: session)
    }
}
