import HTTPCore
import Operations

/// A request that delivers the response body in portions as it arrives, for every status.
///
/// The operation executes until the consumer has read the body, except the last 256 KiB at most.
public final class HTTPStreamOperation: HTTPOperation, @unchecked Sendable {
    private let channel: BodyChannel

    /// Creates an operation that delivers its response body as a sequence.
    public init(_ request: HTTPRequestDescription, session: HTTPSession = .shared) {
        channel = BodyChannel()
        super.init(request, session: session, sink: channel)
        channel.setAbandonHandler { [weak self] in self?.cancel() }
    }

    /// Returns a new operation for the same request.
    public func copy() -> HTTPStreamOperation { HTTPStreamOperation(request, session: session) }

    /// The body. One task may iterate, once. Ending the iteration early, or cancelling the task, cancels the operation.
    public var body: HTTPBodyStream { HTTPBodyStream(channel: channel) }
}
