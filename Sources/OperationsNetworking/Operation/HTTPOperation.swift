#if Networking
import HTTPCore
import HTTPTypes
import Operations

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An HTTP request as an operation with a typed result: the decoded answer.
///
/// ```swift
/// let photo = HTTPOperation(HTTPOperationRequest(.get, "https://example.org/photo.json"), as: .json(Photo.self))
/// queue.addOperation(photo)
/// print(try await photo.value)
/// ```
public final class HTTPOperation<Value: Sendable>: AnyHTTPOperation, @unchecked Sendable {
    private let serializer: HTTPSerializer<Value>
    private let sink: MemorySink
    // Written by the operation's task before it ends, read after that was seen.
    nonisolated(unsafe) private var decoded: Value?

    public init(
        _ request: HTTPOperationRequest, as serializer: HTTPSerializer<Value>, session: HTTPSession = .shared
    ) {
        self.serializer = serializer
        sink = MemorySink(limit: request.limits.memory)
        super.init(request, session: session, sink: sink)
    }

    /// A fresh operation for the same request, with nothing of this one's history (rule R1).
    public func copy() -> HTTPOperation { HTTPOperation(request, as: serializer, session: session) }

    /// The decoded answer, as soon as the operation has finished and left its queue.
    ///
    /// - Throws: `HTTPError`, also when it was cancelled; what a policy of the toolkit says, such as `OperationTimeout`.
    public var value: Value {
        get async throws {
            try await waitForEnd()
            if let decoded { return decoded }
            throw failure
        }
    }

    /// The same for what has finished.
    package var resultSoFar: Result<Value, any Error> { decoded.map { .success($0) } ?? .failure(failure) }

    // Those who share a transfer judge its status when it is over, which is too late to try again.
    override var complaint: HTTPError? {
        guard Value.self == HTTPAnswer.self else { return nil }
        let (head, url) = transfer.record.withLock { ($0.response, $0.url) }
        guard let head, !(200..<300 ~= head.status.code) else { return nil }
        return HTTPError(.unacceptableStatus(head.status.code), url: url, response: head)
    }

    override func complete() async throws {
        let (head, url) = transfer.record.withLock { ($0.response, $0.url) }
        guard let head else { return }
        decoded = try serializer.value(sink.take(), head, url: url)
    }
}

extension HTTPOperation where Value == Data {
    /// The bytes, whatever the response's type is, if its status is one of success.
    public convenience init(_ request: HTTPOperationRequest, session: HTTPSession = .shared) {
        self.init(request, as: .data, session: session)
    }
}
#endif
