import HTTPCore
import HTTPTypes
public import Operations

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A handle to a request. Identical requests may share one transfer, and each caller has its own handle. Cancelling the last
/// handle stops the transfer. All members are safe to use on any thread.
public final class HTTPRequestHandle<Value: Sendable>: Sendable {
    let wish: Wish
    private let decoding: Decoding

    /// The decoded value, decoded once for all tasks that await it.
    private final class Decoding: Sendable {
        private let serializer: HTTPSerializer<Value>
        private let outcome = Locked<Result<Value, HTTPError>?>(nil)

        init(_ serializer: HTTPSerializer<Value>) { self.serializer = serializer }

        /// Returns the value; nil before it has been decoded.
        func value() throws(HTTPError) -> Value? { try outcome.withLock { $0 }?.get() }

        /// Decodes off the caller's executor, which may be the main actor.
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
        // Decode as part of the operation. A handle that joins just after the response arrived decodes when the value is read.
        let url = wish.url
        wish.whenReceived { [decoding] answer in _ = try? decoding.decode(answer, url: url) }
    }

    /// The decoded response. Cancelling the waiting task ends only the wait and does not cancel the request.
    ///
    /// - Throws: `HTTPError`, also after cancelling.
    public var value: Value {
        get async throws {
            let answer = try await wish.answer
            if let value = try decoding.value() { return value }
            return try await decoding.value(of: answer, url: wish.url)
        }
    }

    /// Cancels this handle. The handle's `value` throws the error `cancelled`. Other handles of the same transfer are not
    /// affected.
    public func cancel() { wish.cancel() }

    /// Pauses this handle. The transfer pauses once all its handles are paused.
    public func pause() { wish.pause() }

    /// Resumes this handle, and with it the transfer.
    public func resume() { wish.resume() }

    /// The priority of this handle. The transfer has the highest priority of its handles.
    public var priority: Operation.QueuePriority {
        get { wish.priority }
        set { wish.priority = newValue }
    }

    /// The operation that runs the transfer. Pausing, resuming or cancelling the operation affects all handles that share the
    /// transfer.
    public var operation: HTTPOperation { wish.operation }
}
