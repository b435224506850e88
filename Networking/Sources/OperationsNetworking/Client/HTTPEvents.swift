import HTTPCore
public import HTTPTypes
import Operations

/// An event in the life of a request of an `HTTPClientQueue`.
public struct HTTPEvent: Sendable {
    /// The kind of an event.
    public enum Kind: Sendable {
        /// A transfer began: the first one, or a further one after a pause or a failure.
        case started
        /// The head of the response arrived.
        case response(HTTPResponse)
        /// The request was paused.
        case paused
        /// The request ended: successfully if the error is nil, otherwise with the error.
        case finished((any Error)?)
    }

    /// The kind of the event.
    public let kind: Kind
    /// The address, without user name and password.
    public let url: String
    /// Whether the client itself made the request, to revalidate a response that the cache had served. See
    /// `HTTPCachePolicy.allowsStaleWhileRevalidate`.
    public let isRevalidation: Bool
}

extension HTTPClientQueue {
    /// The events from now on. The stream buffers events without a limit, and ends with the client.
    public var requestEvents: AsyncStream<HTTPEvent> { events.stream() }
}
