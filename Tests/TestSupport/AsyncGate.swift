/// A gate that suspends tasks until it opens.
package final class AsyncGate: Sendable {
    private struct State {
        var needed: Int
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private let state: Guarded<State>

    /// Creates a gate that opens at the given number of calls of `open()`.
    package init(_ needed: Int = 1) { state = Guarded(State(needed: needed)) }

    package func open() {
        let freed = state.withLock { state in
            state.needed -= 1
            guard state.needed <= 0 else { return [CheckedContinuation<Void, Never>]() }
            defer { state.waiting = [] }
            return state.waiting
        }
        for continuation in freed { continuation.resume() }
    }

    package func pass() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if state.needed > 0 { state.waiting.append(continuation) }
                return state.needed <= 0
            }
            if isOpen { continuation.resume() }
        }
    }
}
