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

/// Tells those who follow.
final class HTTPEvents: Sendable {
    private struct State {
        var followers: [Int: AsyncStream<HTTPEvent>.Continuation] = [:]
        var last = 0
    }

    private let state = Locked(State())

    var stream: AsyncStream<HTTPEvent> {
        let (stream, continuation) = AsyncStream.makeStream(of: HTTPEvent.self)
        let id = state.withLock { state in
            state.last += 1
            state.followers[state.last] = continuation
            return state.last
        }
        continuation.onTermination = { [weak self] _ in
            let old = self?.state.withLock { $0.followers.removeValue(forKey: id) }
            withExtendedLifetime(old) {}
        }
        return stream
    }

    func follow(_ operation: AnyHTTPOperation) {
        operation.transfer.follow { [weak self] kind, url in
            guard let followers = self?.state.withLock({ $0.followers }) else { return }
            for follower in followers.values { follower.yield(HTTPEvent(kind: kind, url: url)) }
        }
    }
}

extension HTTPClientQueue {
    /// What happens from now on, as it happens. What is not taken is kept.
    public var requestEvents: AsyncStream<HTTPEvent> { events.stream }
}
#endif
