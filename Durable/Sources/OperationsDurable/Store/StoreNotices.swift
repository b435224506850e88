package import DurableCore

/// The notices of a store: tasks that wait for ends of operations, and workers that wait for work.
public final class StoreNotices: Sendable {
    private struct State {
        var nextToken = 0
        var waiters: [OperationID: [Int: Wakeup]] = [:]
        var listeners: [Int: @Sendable (Effects) -> Void] = [:]
        var observer: (@Sendable (Bool) -> Void)?
        /// The use of which the observer was notified last.
        var observedUse = false
        /// Whether a thread notifies the observer.
        var isNotifying = false

        var isInUse: Bool { !waiters.isEmpty || !listeners.isEmpty }

        mutating func newToken() -> Int {
            nextToken += 1
            return nextToken
        }
    }

    private let state = Locked(State())

    package init() {}

    /// Sets a closure that receives a Boolean value that indicates whether any task or worker waits.
    package func setUseObserver(_ observer: @escaping @Sendable (Bool) -> Void) {
        state.withLock { $0.observer = observer }
    }

    /// Publishes the effects of a commit of this process.
    package func publish(_ effects: Effects) {
        let (wakeups, listeners) = state.withLock { state in
            (effects.ended.flatMap { state.waiters[$0].map { Array($0.values) } ?? [] }, Array(state.listeners.values))
        }
        for wakeup in wakeups { wakeup.set() }
        for listener in listeners { listener(effects) }
    }

    /// Publishes that another process changed the database. All waiting tasks check their operations again.
    package func publishUnknownChange() {
        var effects = Effects()
        (effects.hasReadyOperations, effects.hasCancelRequests, effects.hasNewWakes) = (true, true, true)
        effects.ended = state.withLock { Set($0.waiters.keys) }
        publish(effects)
    }

    /// Calls a closure after each change until `removeListener` removes the returned token.
    package func addListener(_ listener: @escaping @Sendable (Effects) -> Void) -> Int {
        change { state in
            let token = state.newToken()
            state.listeners[token] = listener
            return token
        }
    }

    package func removeListener(_ token: Int) { change { $0.listeners[token] = nil } }

    /// Repeats the check after each notice about the operation until the check returns a value.
    ///
    /// - Throws: The error of the check, or `CancellationError`.
    package func wait<Value>(for id: OperationID, _ check: () async throws -> Value?) async throws -> Value {
        let wakeup = Wakeup()
        // The registration precedes the check, so that no end is missed between them.
        let token = change { state in
            let token = state.newToken()
            state.waiters[id, default: [:]][token] = wakeup
            return token
        }
        defer {
            change { state in
                state.waiters[id]?[token] = nil
                if state.waiters[id]?.isEmpty == true { state.waiters[id] = nil }
            }
        }
        while true {
            if let value = try await check() { return value }
            try Task.checkCancellation()
            await wakeup.wait()
        }
    }

    /// Changes the state, and notifies the observer when the use begins or ends.
    @discardableResult
    private func change<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        let result = state.withLock { body(&$0) }
        // One thread at a time notifies, until the observer knows the present use. Threads that notify at once could have the
        // observer see an earlier use last.
        var isContinued = false
        while true {
            let next: (observer: @Sendable (Bool) -> Void, isInUse: Bool)? = state.withLock { state in
                if isContinued { state.isNotifying = false }
                guard !state.isNotifying, state.isInUse != state.observedUse, let observer = state.observer else {
                    return nil
                }
                (state.isNotifying, state.observedUse) = (true, state.isInUse)
                return (observer, state.isInUse)
            }
            guard let next else { return result }
            next.observer(next.isInUse)
            isContinued = true
        }
    }
}
