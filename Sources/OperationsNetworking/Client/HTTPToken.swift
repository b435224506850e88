#if Networking
import HTTPCore
import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Somebody's wish for what a request answers (rule N2). Others may have the same wish and share the transfer: each
/// cancels for himself, and the last one stops it.
public final class HTTPToken<Value: Sendable>: Sendable {
    private let wish: Wish
    private let serializer: HTTPSerializer<Value>

    init(_ wish: Wish, _ serializer: HTTPSerializer<Value>) {
        self.wish = wish
        self.serializer = serializer
    }

    /// What the answer is decoded to. A task that is cancelled waits no longer, and leaves its wish as it is.
    ///
    /// - Throws: `HTTPError`, also when it was cancelled.
    public var value: Value {
        get async throws {
            let answer = try await wish.answer
            return try serializer.value(answer.body, answer.response, url: answer.url)
        }
    }

    /// Gives up. Its `value` throws that it was cancelled; others who share the transfer get theirs.
    public func cancel() { wish.cancel() }

    /// How urgent it is. The most urgent of those who share a transfer counts.
    public var priority: Operation.QueuePriority {
        get { wish.priority }
        set { wish.priority = newValue }
    }

    /// What transfers for it: pausing and resuming it concerns all who share it.
    public var operation: AnyHTTPOperation { wish.operation }
}
#endif
