#if Networking
import Operations

/// Tells those who follow, each by a stream of his own.
final class Broadcast<Element: Sendable>: Sendable {
    private struct State {
        var followers: [Int: AsyncStream<Element>.Continuation] = [:]
        var last = 0
        var hasEnded = false
    }

    private let state = Locked(State())

    /// - Parameters:
    ///   - policy: What becomes of what is not taken.
    ///   - first: What is told at once.
    func stream(
        _ policy: AsyncStream<Element>.Continuation.BufferingPolicy = .unbounded, first: Element? = nil
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: policy)
        if let first { continuation.yield(first) }
        let id = state.withLock { state -> Int? in
            guard !state.hasEnded else { return nil }
            state.last += 1
            state.followers[state.last] = continuation
            return state.last
        }
        guard let id else {
            continuation.finish()
            return stream
        }
        continuation.onTermination = { [weak self] _ in
            let old = self?.state.withLock { $0.followers.removeValue(forKey: id) }
            withExtendedLifetime(old) {}
        }
        return stream
    }

    func tell(_ element: Element) {
        for follower in state.withLock({ $0.followers }).values { follower.yield(element) }
    }

    /// Ends all streams, also those made later.
    func finish() {
        let followers = state.withLock { state in
            state.hasEnded = true
            defer { state.followers = [:] }
            return state.followers
        }
        for follower in followers.values { follower.finish() }
    }
}
#endif
