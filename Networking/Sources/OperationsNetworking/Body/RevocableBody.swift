import AsyncHTTPClient
import NIOCore
import Operations

/// The body that is sent in one exchange. The exchange owns this object, and its deinitialization marks the end of the
/// exchange.
final class OutgoingStream: Sendable {
    let body: HTTPClientRequest.Body
    private let revoke: @Sendable () -> Void
    private let over: @Sendable () -> Void

    /// - Parameters:
    ///   - length: The length of all portions together; nil if it is unknown.
    ///   - stop: Ends a wait for the next portion. Called when no further portion is needed, maybe twice.
    init<Portions: AsyncSequence & Sendable>(
        _ portions: Portions, length: Int64?, _ sending: Sending, stop: @escaping @Sendable () -> Void = {}
    ) where Portions.Element == ByteBuffer {
        let source = RevocableBody.Source(PacedPortions(base: portions, sending: sending), length: length)
        body = .stream(RevocableBody(source: source), length: length.map { .known($0) } ?? .unknown)
        // The source first. Otherwise the source would report the end of the wait as an error of the body.
        revoke = {
            source.revoke()
            stop()
        }
        over = {
            source.exchangeIsOver()
            stop()
        }
    }

    deinit { over() }

    /// Releases the source of the remaining portions, because the server has refused them.
    func refused() { revoke() }
}

/// The portions of a request body, until the server refuses them.
///
/// After a redirect or a refusal, async-http-client sends no further portion, and its sending task may stay suspended forever.
/// The task would keep the data or the open file alive. So the portions are stored apart from the task, and can be released.
struct RevocableBody<Portions: AsyncSequence & Sendable>: AsyncSequence, Sendable
where Portions.Element == ByteBuffer {
    let source: Source

    func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    struct Iterator: AsyncIteratorProtocol {
        let source: Source

        func next() async throws -> ByteBuffer? { try await source.next() }
    }

    final class Source: Sendable {
        private enum Content {
            case unread(Portions)
            case read(Portions.AsyncIterator)
            /// The one reading task holds the iterator.
            case lent
            case revoked
        }

        private struct State {
            var content: Content
            /// The number of bytes that follow; nil if it is unknown.
            var left: Int64?
            var isOver = false
            var waiter: CheckedContinuation<Void, Never>?
        }

        private let state: Locked<State>

        init(_ portions: Portions, length: Int64?) { state = Locked(State(content: .unread(portions), left: length)) }

        func next() async throws -> ByteBuffer? {
            let content = state.withLock { state -> Content in
                if case .revoked = state.content { return .revoked }
                defer { state.content = .lent }
                return state.content
            }
            var iterator: Portions.AsyncIterator
            switch content {
            case .unread(let portions): iterator = portions.makeAsyncIterator()
            case .read(let begun): iterator = begun
            case .lent, .revoked: return try await end()
            }
            let portion: ByteBuffer?
            do {
                portion = try await iterator.next()
            } catch {
                if isRevoked { return try await end() }
                throw error
            }
            let isWanted = state.withLock { state in
                guard case .lent = state.content else { return false }
                state.content = .read(iterator)
                if let portion { state.left? -= Int64(portion.readableBytes) }
                return true
            }
            return isWanted ? portion : try await end()
        }

        /// Whether the reader waits for the end of the exchange.
        var isAwaited: Bool { state.withLock { $0.waiter != nil } }

        private var isRevoked: Bool {
            state.withLock { if case .revoked = $0.content { true } else { false } }
        }

        /// Waits for the end of the exchange. An earlier end or error of the body would count as that of the exchange.
        ///
        /// - Returns: `nil` if all bytes were sent. The connection can then be reused.
        /// - Throws: `CancellationError` if bytes are missing, or if their number is unknown.
        private func end() async throws -> ByteBuffer? {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiter = continuation }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
            if state.withLock({ $0.left != 0 }) { throw CancellationError() }
            return nil
        }

        func revoke() {
            let old = state.withLock { state in
                defer { state.content = .revoked }
                return state.content
            }
            withExtendedLifetime(old) {}
        }

        func exchangeIsOver() {
            let (waiter, old) = state.withLock { state in
                state.isOver = true
                // A server may respond before it has received the whole body. The body must not outlive the request.
                defer { state.content = .revoked }
                return (state.waiter.take(), state.content)
            }
            withExtendedLifetime(old) {}
            waiter?.resume()
        }
    }
}
