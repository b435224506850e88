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
    let wish: Wish
    private let decoding: Decoding

    /// Decoded once, however many await it.
    private final class Decoding: Sendable {
        private let serializer: HTTPSerializer<Value>
        private let outcome = Locked<Result<Value, HTTPError>?>(nil)

        init(_ serializer: HTTPSerializer<Value>) { self.serializer = serializer }

        /// nil before somebody has decoded it.
        func value() throws(HTTPError) -> Value? { try outcome.withLock { $0 }?.get() }

        /// Not where the caller runs, which may be the main actor.
        @concurrent
        func value(of answer: HTTPAnswer, url: String) async throws(HTTPError) -> Value {
            try decode(answer, url: url)
        }

        func decode(_ answer: HTTPAnswer, url: String) throws(HTTPError) -> Value {
            if let value = try value() { return value }
            let new = Result { () throws(HTTPError) in
                try serializer.value(answer.body, answer.response, url: url)
            }
            return try outcome.withLock { outcome in
                outcome = outcome ?? new
                return outcome ?? new
            }.get()
        }
    }

    init(_ wish: Wish, _ serializer: HTTPSerializer<Value>) {
        self.wish = wish
        decoding = Decoding(serializer)
        // As part of the operation. Who joins one that has just been received decodes when the value is asked for.
        let url = wish.url
        wish.whenReceived { [decoding] answer in _ = try? decoding.decode(answer, url: url) }
    }

    /// What the answer is decoded to. A task that is cancelled waits no longer, and leaves its wish as it is.
    ///
    /// - Throws: `HTTPError`, also when it was cancelled.
    public var value: Value {
        get async throws {
            let answer = try await wish.answer
            if let value = try decoding.value() { return value }
            return try await decoding.value(of: answer, url: wish.url)
        }
    }

    /// Gives up. Its `value` throws that it was cancelled; others who share the transfer get theirs.
    public func cancel() { wish.cancel() }

    /// Can wait from now on. The transfer stands still while all who share it can.
    public func pause() { wish.pause() }

    /// Can wait no longer.
    public func resume() { wish.resume() }

    /// How urgent it is. The most urgent of those who share a transfer counts.
    public var priority: Operation.QueuePriority {
        get { wish.priority }
        set { wish.priority = newValue }
    }

    /// What transfers for it: pausing and resuming it concerns all who share it.
    public var operation: AnyHTTPOperation { wish.operation }
}
#endif
