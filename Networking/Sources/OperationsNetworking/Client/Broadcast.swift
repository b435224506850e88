import Operations

/// Delivers elements to followers: either all elements, or only the latest one. Calls followers without holding a lock.
package final class Broadcast<Element: Sendable>: Sendable {
    private final class Follower: @unchecked Sendable {
        // Sendable: only the thread that is currently delivering uses `latest`.
        let tell: @Sendable (Element) -> Void
        let end: @Sendable () -> Void
        /// The element that was delivered last, if the follower wants only the latest.
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

        /// Adds a follower. Returns nil if the broadcast has ended.
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

    /// Ends the streams together with the broadcast.
    deinit { finish() }

    /// - Parameter isFinished: Whether the broadcast has ended already.
    package init(isFinished: Bool = false) {
        var state = State()
        if isFinished { _ = state.telling.finish() }
        self.state = Locked(state)
    }

    // MARK: - Everything

    /// Returns a stream of all elements from now on. The stream buffers elements without a limit.
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

    /// Delivers an element to each follower. Concurrent calls have no order.
    func tell(_ element: Element) {
        for follower in state.withLock({ $0.followers }).values { follower.tell(element) }
    }

    /// Ends the broadcast for present and later followers. An element that is being delivered arrives first.
    package func finish() {
        let ended = state.withLock { $0.telling.finish() ? $0.removeAll() : [:] }
        for follower in ended.values { follower.end() }
    }

    // MARK: - Streams

    private func follower(_ continuation: AsyncStream<Element>.Continuation) -> Follower {
        Follower(tell: { continuation.yield($0) }, end: { continuation.finish() })
    }

    private func remove(_ id: Int, with continuation: AsyncStream<some Any>.Continuation) {
        continuation.onTermination = { [weak self] _ in
            let old = self?.state.withLock { $0.followers.removeValue(forKey: id) }
            withExtendedLifetime(old) {}
        }
    }
}

// MARK: - The latest

extension Broadcast where Element: Equatable {
    /// Returns a stream of the current element and of each change. A slow consumer receives the latest element only.
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

    /// Returns a stream of the steps that `step` makes of the current element and of each change. The stream buffers steps
    /// without a limit.
    func steps<Step: Sendable>(
        _ latest: () -> Element, _ step: @escaping @Sendable (Element) -> Step?
    ) -> AsyncStream<Step> {
        let (stream, continuation) = AsyncStream.makeStream(of: Step.self)
        let follower = Follower(
            tell: { if let step = step($0) { continuation.yield(step) } }, end: { continuation.finish() })
        if let id = begin(follower, latest) {
            remove(id, with: continuation)
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Calls `tell` with the current element and with each change, on the thread that delivers.
    func latest(_ latest: () -> Element, tell: @escaping @Sendable (Element) -> Void) {
        let follower = Follower(tell: tell)
        follower.tellIfNew(latest())
        _ = begin(follower, latest)
    }

    /// Delivers the current element, one thread at a time, so that an old element never follows a newer one. A call during
    /// another thread's delivery leaves the work to that thread.
    package func tellLatest(_ latest: () -> Element) {
        if state.withLock({ !$0.followers.isEmpty && $0.telling.begin() }) { tell(latest) }
    }

    /// Adds a follower and begins delivering in one step, so that the follower gets an element before the end.
    private func begin(_ follower: Follower, _ latest: () -> Element) -> Int? {
        let (id, isTeller) = state.withLock { state in
            let id = state.add(follower)
            return (id, id != nil && state.telling.begin())
        }
        if isTeller { tell(latest) }
        return id
    }

    /// Two threads that change the element one after the other may both read the second change. Each follower gets the second
    /// change once.
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

/// The state machine of delivering the latest element: a plain value.
///
/// ```text
/// silent ◄──► telling ◄──► telling, and there is news ──► telling
///    └───────────┴──► ended, after the last delivery
/// ```
struct Telling: Equatable {
    enum Phase: Equatable { case silent, telling, tellingWithNews, ended }
    enum Next: Equatable { case again, rest, end }

    private(set) var phase = Phase.silent
    private var isToEnd = false

    /// Begins a delivery. Returns false if the delivering thread delivers this element too.
    mutating func begin() -> Bool {
        switch phase {
        case .silent: phase = .telling
        case .telling, .tellingWithNews: phase = .tellingWithNews
        case .ended: break
        }
        return phase == .telling
    }

    /// Ends one round of delivery. Only the delivering thread calls this function.
    mutating func told() -> Next {
        if phase == .tellingWithNews {
            phase = .telling
            return .again
        }
        phase = isToEnd ? .ended : .silent
        return isToEnd ? .end : .rest
    }

    /// Ends the broadcast. Returns false if the delivering thread ends the broadcast later.
    mutating func finish() -> Bool {
        isToEnd = true
        guard phase == .silent else { return false }
        phase = .ended
        return true
    }
}
