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
/// import HTTPTypes
///
/// let photo = HTTPOperation(HTTPOperationRequest(.get, "https://example.org/photo.json"), as: .json(Photo.self))
/// queue.addOperation(photo)
/// print(try await photo.value)
/// ```
public final class HTTPOperation<Value: Sendable>: AnyHTTPOperation, @unchecked Sendable {
    private let serializer: HTTPSerializer<Value>
    private let sink: MemorySink
    // Written by the operation's task before it ends, read after that was seen.
    nonisolated(unsafe) private var decoded: Value?
    /// What else is to be done with the value before the operation ends; nil once that has begun.
    private let uses = Locked<[@Sendable (Value) -> Void]?>([])

    /// - Parameters:
    ///   - request: What to ask for. If it says nothing of `Accept`, the serializer does.
    ///   - serializer: What becomes of the answer.
    ///   - session: What it shares with others.
    public convenience init(
        _ request: HTTPOperationRequest, as serializer: HTTPSerializer<Value>, session: HTTPSession = .shared
    ) {
        self.init(request, source: nil, as: serializer, session: session)
    }

    /// The same with a body that is made as it is sent (rule R5); it takes the place of the request's.
    public convenience init(
        _ request: HTTPOperationRequest, sending source: HTTPBodySource, as serializer: HTTPSerializer<Value>,
        session: HTTPSession = .shared
    ) {
        self.init(request, source: source, as: serializer, session: session)
    }

    private init(
        _ request: HTTPOperationRequest, source: HTTPBodySource?, as serializer: HTTPSerializer<Value>,
        session: HTTPSession
    ) {
        self.serializer = serializer
        sink = MemorySink(limit: request.limits.memory)
        super.init(request.accepting(serializer), session: session, sink: sink, source: source)
    }

    /// A fresh operation for the same request, with nothing of this one's history (rule R1). What can be sent once only is
    /// not there a second time.
    public func copy() -> HTTPOperation {
        HTTPOperation(request, source: transfer.source, as: serializer, session: session)
    }

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

    // Those who share a transfer judge its status when it is over, which is too late to try again, or if it does not come to
    // a good end.
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
        // Who cancels while it is decoded is told so, and not given the value (rule R3).
        try Task.checkCancellation()
        decoded = value
        let uses = uses.withLock { uses in
            defer { uses = nil }
            return uses
        }
        for use in uses ?? [] { use(value) }
    }

    /// Has something done with the value as part of the operation, by its task. False if it is too late.
    func useValue(_ use: @escaping @Sendable (Value) -> Void) -> Bool {
        uses.withLock { uses in
            uses?.append(use)
            return uses != nil
        }
    }
}

extension HTTPOperationRequest {
    /// With the field `Accept` for this serializer, if it has none and the serializer does not take everything.
    func accepting(_ serializer: HTTPSerializer<some Any>) -> HTTPOperationRequest {
        let accept = serializer.accept
        guard fields[.accept] == nil, accept != "*/*" else { return self }
        var request = self
        request.fields[.accept] = accept
        return request
    }
}

extension HTTPOperation where Value == Data {
    /// The bytes, whatever the response's type is, if its status is one of success.
    public convenience init(_ request: HTTPOperationRequest, session: HTTPSession = .shared) {
        self.init(request, as: .data, session: session)
    }
}
#endif
