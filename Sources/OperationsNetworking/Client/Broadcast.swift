#if Networking
import Operations

/// Tells those who follow, without a lock: of everything, or of the latest.
package final class Broadcast<Element: Sendable>: Sendable {
    private final class Follower: @unchecked Sendable {
        // Sendable: `latest` is used by who tells the latest, one thread at a time.
        let tell: @Sendable (Element) -> Void
        let end: @Sendable () -> Void
        /// What it was told last, if it follows the latest.
        var latest: Element?

        init(tell: @escaping @Sendable (Element) -> Void, end: @escaping @Sendable () -> Void = {}) {
            (self.tell, self.end) = (tell, end)
        }

        func tellIfNew(_ element: Element) where Element: Equatable {
            guard latest != element else { return }
            latest = element
            tell(element)
        }
    }

    private struct State {
        var followers: [Int: Follower] = [:]
        var last = 0
        var telling = Telling()

        /// nil: the end has been.
        mutating func add(_ follower: Follower) -> Int? {
            guard telling.phase != .ended else { return nil }
            last += 1
            followers[last] = follower
            return last
        }

        mutating func removeAll() -> [Int: Follower] {
            defer { followers = [:] }
            return followers
        }
    }

    private let state: Locked<State>

    /// The streams end with the broadcast.
    deinit { finish() }

    /// - Parameter isFinished: The end has been already.
    package init(isFinished: Bool = false) {
        var state = State()
        if isFinished { _ = state.telling.finish() }
        self.state = Locked(state)
    }

    // MARK: - Everything

    /// All that is told from now on. What is not taken is kept.
    func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        let follower = follower(continuation)
        if let id = state.withLock({ $0.add(follower) }) {
            remove(id, with: continuation)
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Each of these is told, in no order if several threads tell.
    func tell(_ element: Element) {
        for follower in state.withLock({ $0.followers }).values { follower.tell(element) }
    }

    /// Nobody is told anything from now on, also who comes later. What is being told comes first.
    package func finish() {
        let ended = state.withLock { $0.telling.finish() ? $0.removeAll() : [:] }
        for follower in ended.values { follower.end() }
    }

    // MARK: - Streams

    private func follower(_ continuation: AsyncStream<Element>.Continuation) -> Follower {
        Follower(tell: { continuation.yield($0) }, end: { continuation.finish() })
    }

    private func remove(_ id: Int, with continuation: AsyncStream<Element>.Continuation) {
        continuation.onTermination = { [weak self] _ in
            let old = self?.state.withLock { $0.followers.removeValue(forKey: id) }
            withExtendedLifetime(old) {}
        }
    }
}

// MARK: - The latest

extension Broadcast where Element: Equatable {
    /// What there is now, and each time that it changes. What is not taken in time is replaced by what is newer.
    package func latest(_ latest: () -> Element) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        if let id = begin(follower(continuation), latest) {
            remove(id, with: continuation)
        } else {
            continuation.yield(latest())
            continuation.finish()
        }
        return stream
    }

    /// The same by a call, on the thread that tells.
    func latest(_ latest: () -> Element, tell: @escaping @Sendable (Element) -> Void) {
        let follower = Follower(tell: tell)
        follower.tellIfNew(latest())
        _ = begin(follower, latest)
    }

    /// Tells what there is now, one thread at a time: so what is old never comes after what is new. Who comes while somebody
    /// is telling leaves it to him.
    package func tellLatest(_ latest: () -> Element) {
        if state.withLock({ !$0.followers.isEmpty && $0.telling.begin() }) { tell(latest) }
    }

    /// He is told before the end, whoever brings that about: so he comes and his being told begins in one step.
    private func begin(_ follower: Follower, _ latest: () -> Element) -> Int? {
        let (id, isTeller) = state.withLock { state in
            let id = state.add(follower)
            return (id, id != nil && state.telling.begin())
        }
        if isTeller { tell(latest) }
        return id
    }

    /// Two who have changed it one after the other may both find the second change: each follower is told of it once.
    private func tell(_ latest: () -> Element) {
        while true {
            let element = latest()
            for follower in state.withLock({ $0.followers }).values { follower.tellIfNew(element) }
            let (next, ended) = state.withLock { state in
                let next = state.telling.told()
                return (next, next == .end ? state.removeAll() : [:])
            }
            for follower in ended.values { follower.end() }
            guard next == .again else { return }
        }
    }
}

/// Who tells the latest: a plain value.
///
///     silent ◄──► telling ◄──► telling, and there is news ──► telling
///        └───────────┴──► ended, when all has been told
struct Telling: Equatable {
    enum Phase: Equatable { case silent, telling, tellingWithNews, ended }
    enum Next: Equatable { case again, rest, end }

    private(set) var phase = Phase.silent
    private var isToEnd = false

    /// False: who is telling tells this too.
    mutating func begin() -> Bool {
        switch phase {
        case .silent: phase = .telling
        case .telling, .tellingWithNews: phase = .tellingWithNews
        case .ended: break
        }
        return phase == .telling
    }

    /// Of who has begun.
    mutating func told() -> Next {
        if phase == .tellingWithNews {
            phase = .telling
            return .again
        }
        phase = isToEnd ? .ended : .silent
        return isToEnd ? .end : .rest
    }

    /// False: who is telling ends it.
    mutating func finish() -> Bool {
        isToEnd = true
        guard phase == .silent else { return false }
        phase = .ended
        return true
    }
}
#endif
