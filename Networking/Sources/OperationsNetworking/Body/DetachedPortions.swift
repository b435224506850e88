import NIOCore

/// The portions of a caller's sequence, which a task of its own requests one at a time.
///
/// A sequence may have no portion for any time. The task of async-http-client cannot be cancelled. If it requested the
/// portions itself, an idle sequence would keep the task, and with it the transfer, after the end of the exchange.
struct DetachedPortions<Base: AsyncSequence & Sendable>: AsyncSequence, Sendable where Base.Element == ByteBuffer {
    let base: Base
    let relay: PortionRelay

    func makeAsyncIterator() -> Iterator {
        let (base, relay) = (base, relay)
        // This task must not hold the transfer: the sequence may ignore the cancellation of the task.
        relay.begin(
            Task {
                var iterator = base.makeAsyncIterator()
                while await relay.isPortionRequested() {
                    do {
                        relay.provide(.success(try await iterator.next()))
                    } catch {
                        relay.provide(.failure(error))
                    }
                }
            })
        return Iterator(relay: relay)
    }

    struct Iterator: AsyncIteratorProtocol {
        let relay: PortionRelay

        func next() async throws -> ByteBuffer? { try await relay.next() }
    }
}

/// The point at which the task that sends a body receives portions from the task that requests them from the sequence.
final class PortionRelay: Sendable {
    private struct State {
        var isStopped = false
        var source: Task<Void, Never>?
        /// The sending task, which waits for a portion.
        var receiver: CheckedContinuation<ByteBuffer?, any Error>?
        /// The task of the sequence, which waits for the request of a portion.
        var provider: CheckedContinuation<Bool, Never>?
    }

    private let state = Locked(State())

    fileprivate func begin(_ source: Task<Void, Never>) {
        let isStopped = state.withLock { state in
            if !state.isStopped { state.source = source }
            return state.isStopped
        }
        if isStopped { source.cancel() }
    }

    /// Requests a portion and waits for it.
    ///
    /// - Throws: The error of the sequence; `CancellationError` after `stop()`.
    fileprivate func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { receiver in
            let (provider, isStopped) = state.withLock { state in
                if !state.isStopped { state.receiver = receiver }
                return (state.provider.take(), state.isStopped)
            }
            if isStopped { receiver.resume(throwing: CancellationError()) }
            provider?.resume(returning: true)
        }
    }

    /// Waits until the next portion is requested. Returns false after `stop()`.
    fileprivate func isPortionRequested() async -> Bool {
        await withCheckedContinuation { provider in
            let isRequested: Bool? = state.withLock { state in
                if state.isStopped { return false }
                if state.receiver != nil { return true }
                state.provider = provider
                return nil
            }
            if let isRequested { provider.resume(returning: isRequested) }
        }
    }

    fileprivate func provide(_ portion: Result<ByteBuffer?, any Error>) {
        state.withLock { $0.receiver.take() }?.resume(with: portion)
    }

    /// Cancels the task of the sequence, and ends the wait for a portion, also if the sequence ignores the cancellation.
    func stop() {
        let (source, receiver, provider) = state.withLock { state in
            state.isStopped = true
            return (state.source.take(), state.receiver.take(), state.provider.take())
        }
        source?.cancel()
        receiver?.resume(throwing: CancellationError())
        provider?.resume(returning: false)
    }
}
