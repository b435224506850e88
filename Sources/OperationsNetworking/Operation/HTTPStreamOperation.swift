#if Networking
import HTTPCore
import Operations

/// A response whose body is handed on as it comes (rule R5). The operation executes until the body has been taken.
public final class HTTPStreamOperation: AnyHTTPOperation, @unchecked Sendable {
    private let channel: BodyChannel

    public init(_ request: HTTPOperationRequest, session: HTTPSession = .shared) {
        channel = BodyChannel()
        super.init(request, session: session, sink: channel)
        channel.setAbandonHandler { [weak self] in self?.cancel() }
    }

    /// A fresh operation for the same (rule R1).
    public func copy() -> HTTPStreamOperation { HTTPStreamOperation(request, session: session) }

    /// The body. One task may iterate, once; who stops before its end cancels the operation.
    public var body: HTTPBodyStream { HTTPBodyStream(channel: channel) }
}
#endif
