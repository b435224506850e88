#if Networking
import HTTPCore
public import HTTPTypes
import Operations

/// What happens to the requests of an `HTTPClientQueue` (rule N4).
public struct HTTPEvent: Sendable {
    public enum Kind: Sendable {
        /// A transfer begins: the first one, or one more after a pause or a failure.
        case started
        /// The head of the answer is there.
        case response(HTTPResponse)
        case paused
        /// It has ended: with its body, or for this reason.
        case finished((any Error)?)
    }

    public let kind: Kind
    /// Without user name and password.
    public let url: String
}

extension HTTPClientQueue {
    /// What happens from now on, as it happens. What is not taken is kept. Ends with the client.
    public var requestEvents: AsyncStream<HTTPEvent> { events.stream() }
}
#endif
