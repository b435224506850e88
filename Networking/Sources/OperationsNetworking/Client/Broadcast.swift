import Operations

/// Delivers elements to subscribers: either all elements, or only the latest one. Calls subscribers without holding a lock.
package final class Broadcast<Element: Sendable>: Sendable {
    private final class Subscriber: @unchecked Sendable {
        // Sendable: only the thread that is currently delivering uses `latest`.
        let receive: @Sendable (Element) -> Void
        let end: @Sendable () -> Void
        /// The element that was delivered last, if the subscriber wants only the latest.
        var latest: Element?

        init(receive: @escaping @Sendable (Element) -> Void, end: @escaping @Sendable () -> Void = {}) {
            (self.receive, self.end) = (receive, end)
        }

        func receiveIfNew(_ element: Element) where Element: Equatable {
            guard latest != element else { return }
            latest = element
            receive(element)
        }
    }

    private struct State {
        var subscribers: [Int: Subscriber] = [:]
        var last = 0
        var delivery = DeliveryState()

        /// Adds a subscriber. Returns nil if the broadcast has ended.
        mutating func add(_ subscriber: Subscriber) -> Int? {
            guard delivery.phase != .ended else { return nil }
            last += 1
            subscribers[last] = subscriber
            return last
        }

        mutating func removeAll() -> [Int: Subscriber] {
            defer { subscribers = [:] }
            return subscribers
        }
    }

    private let state: Locked<State>

    /// Ends the streams together with the broadcast.
    deinit { finish() }

    /// - Parameter isFinished: Whether the broadcast has ended already.
    package init(isFinished: Bool = false) {
        var state = State()
        if isFinished { _ = state.delivery.finish() }
        self.state = Locked(state)
    }

    // MARK: - Everything

    /// Returns a stream of all elements from now on. The stream buffers elements without a limit.
    func stream() -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self)
        let subscriber = subscriber(continuation)
        if let id = state.withLock({ $0.add(subscriber) }) {
            remove(id, with: continuation)
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Delivers an element to each subscriber. Concurrent calls have no order.
    func send(_ element: Element) {
        for subscriber in state.withLock({ $0.subscribers }).values { subscriber.receive(element) }
    }

    /// Ends the broadcast for present and later subscribers. An element that is being delivered arrives first.
    package func finish() {
        let ended = state.withLock { $0.delivery.finish() ? $0.removeAll() : [:] }
        for subscriber in ended.values { subscriber.end() }
    }

    // MARK: - Streams

    private func subscriber(_ continuation: AsyncStream<Element>.Continuation) -> Subscriber {
        Subscriber(receive: { continuation.yield($0) }, end: { continuation.finish() })
    }

    private func remove(_ id: Int, with continuation: AsyncStream<some Any>.Continuation) {
        continuation.onTermination = { [weak self] _ in
            let old = self?.state.withLock { $0.subscribers.removeValue(forKey: id) }
            withExtendedLifetime(old) {}
        }
    }
}

// MARK: - The latest

extension Broadcast where Element: Equatable {
    /// Returns a stream of the current element and of each change. A slow consumer receives the latest element only.
    package func latest(_ latest: () -> Element) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(of: Element.self, bufferingPolicy: .bufferingNewest(1))
        if let id = begin(subscriber(continuation), latest) {
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
        let subscriber = Subscriber(
            receive: { if let step = step($0) { continuation.yield(step) } }, end: { continuation.finish() })
        if let id = begin(subscriber, latest) {
            remove(id, with: continuation)
        } else {
            continuation.finish()
        }
        return stream
    }

    /// Calls `receive` with the current element and with each change, on the thread that delivers.
    func latest(_ latest: () -> Element, receive: @escaping @Sendable (Element) -> Void) {
        let subscriber = Subscriber(receive: receive)
        subscriber.receiveIfNew(latest())
        _ = begin(subscriber, latest)
    }

    /// Delivers the current element, one thread at a time, so that an old element never follows a newer one. A call during
    /// another thread's delivery leaves the work to that thread.
    package func sendLatest(_ latest: () -> Element) {
        if state.withLock({ !$0.subscribers.isEmpty && $0.delivery.begin() }) { deliver(latest) }
    }

    /// Adds a subscriber and begins delivering in one step, so that the subscriber gets an element before the end.
    private func begin(_ subscriber: Subscriber, _ latest: () -> Element) -> Int? {
        let (id, delivers) = state.withLock { state in
            let id = state.add(subscriber)
            return (id, id != nil && state.delivery.begin())
        }
        if delivers { deliver(latest) }
        return id
    }

    /// Two threads that change the element one after the other may both read the second change. Each subscriber gets the second
    /// change once.
    private func deliver(_ latest: () -> Element) {
        while true {
            let element = latest()
            for subscriber in state.withLock({ $0.subscribers }).values { subscriber.receiveIfNew(element) }
            let (next, ended) = state.withLock { state in
                let next = state.delivery.endRound()
                return (next, next == .end ? state.removeAll() : [:])
            }
            for subscriber in ended.values { subscriber.end() }
            guard next == .again else { return }
        }
    }
}

/// The state machine of delivering the latest element: a plain value.
///
/// ```text
/// idle ◄──► delivering ◄──► delivering again, because the element has changed
///   └───────────┴──► ended, after the last delivery
/// ```
struct DeliveryState: Equatable {
    enum Phase: Equatable { case idle, delivering, deliveringAgain, ended }
    enum Next: Equatable { case again, rest, end }

    private(set) var phase = Phase.idle
    private var isToEnd = false

    /// Begins a delivery. Returns false if the delivering thread delivers this element too.
    mutating func begin() -> Bool {
        switch phase {
        case .idle: phase = .delivering
        case .delivering, .deliveringAgain: phase = .deliveringAgain
        case .ended: break
        }
        return phase == .delivering
    }

    /// Ends one round of delivery. Only the delivering thread calls this function.
    mutating func endRound() -> Next {
        if phase == .deliveringAgain {
            phase = .delivering
            return .again
        }
        phase = isToEnd ? .ended : .idle
        return isToEnd ? .end : .rest
    }

    /// Ends the broadcast. Returns false if the delivering thread ends the broadcast later.
    mutating func finish() -> Bool {
        isToEnd = true
        guard phase == .idle else { return false }
        phase = .ended
        return true
    }
}
