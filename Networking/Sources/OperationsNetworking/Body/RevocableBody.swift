import AsyncHTTPClient
import NIOCore
import Operations

/// The body that is sent in one exchange. The exchange owns this object, and its deinitialization marks the end of the
/// exchange.
final class OutgoingStream: Sendable {
    let body: HTTPClientRequest.Body
    private let revoke: @Sendable () -> Void
    private let over: @Sendable () -> Void

    /// - Parameter length: The length of all portions together; nil if it is unknown.
    init<Portions: AsyncSequence & Sendable>(_ portions: Portions, length: Int64?, _ sending: Sending)
    where Portions.Element == ByteBuffer {
        let source = RevocableBody.Source(PacedPortions(base: portions, sending: sending), length: length)
        body = .stream(RevocableBody(source: source), length: length.map { .known($0) } ?? .unknown)
        revoke = { source.revoke() }
        over = { source.exchangeIsOver() }
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
            case .lent, .revoked: throw await end()
            }
            let portion: ByteBuffer?
            do {
                portion = try await iterator.next()
            } catch {
                if isRevoked { throw await end() }
                throw error
            }
            let isWanted = state.withLock { state in
                guard case .lent = state.content else { return false }
                state.content = .read(iterator)
                if let portion { state.left? -= Int64(portion.readableBytes) }
                return true
            }
            if !isWanted { throw await end() }
            return portion
        }

        /// Whether the reader waits for the end of the exchange.
        var isAwaited: Bool { state.withLock { $0.waiter != nil } }

        private var isRevoked: Bool {
            state.withLock { if case .revoked = $0.content { true } else { false } }
        }

        /// Waits for the end of the exchange. An earlier end or error of the body would count as that of the exchange.
        private func end() async -> CancellationError {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    if !state.isOver { state.waiter = continuation }
                    return state.isOver
                }
                if isOver { continuation.resume() }
            }
            return CancellationError()
        }

        func revoke() {
            let old = state.withLock { state in
                defer { state.content = .revoked }
                return state.content
            }
            withExtendedLifetime(old) {}
        }

        func exchangeIsOver() {
            let (waiter, old) = state.withLock { state -> (CheckedContinuation<Void, Never>?, Content?) in
                state.isOver = true
                // A server may respond before it has received the whole body. The body must not outlive the request. If all
                // bytes were sent, the reading task gets the end of the body, and the connection can be reused.
                let isComplete = state.left == 0
                defer { if !isComplete { state.content = .revoked } }
                return (state.waiter.take(), isComplete ? nil : state.content)
            }
            withExtendedLifetime(old) {}
            waiter?.resume()
        }
    }
}
