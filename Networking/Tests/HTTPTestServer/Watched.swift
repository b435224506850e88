import NIOConcurrencyHelpers

/// A value behind a lock, with tasks that wait until the value satisfies a condition.
final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let isSatisfied: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var lastID: UInt64 = 0
        /// The identifiers of waits that were cancelled before they began.
        var cancelled: Set<UInt64> = []
    }

    private let state: NIOLockedValueBox<State>

    init(_ value: Value) { state = NIOLockedValueBox(State(value: value)) }

    var value: Value { state.withLockedValue { $0.value } }

    /// Changes the value, and resumes the waiting tasks whose conditions the value satisfies.
    @discardableResult
    func change<Result>(_ body: (inout Value) -> Result) -> Result {
        let (result, satisfied) = state.withLockedValue { state in
            let result = body(&state.value)
            guard !state.waiters.isEmpty else { return (result, [Waiter]()) }
            let ids = state.waiters.filter { $0.value.isSatisfied(state.value) }.keys
            return (result, ids.compactMap { state.waiters.removeValue(forKey: $0) })
        }
        for waiter in satisfied { waiter.continuation.resume() }
        return result
    }

    /// Suspends until the value satisfies the condition, or until the task is cancelled. The condition runs under the
    /// lock.
    func wait(until isSatisfied: @escaping @Sendable (Value) -> Bool) async {
        let id = state.withLockedValue { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLockedValue { state in
                    // The cancellation may have come first. No other code then resumes this continuation.
                    if state.cancelled.remove(id) != nil || isSatisfied(state.value) { return true }
                    state.waiters[id] = Waiter(isSatisfied: isSatisfied, continuation: continuation)
                    return false
                }
                if isDone { continuation.resume() }
            }
        } onCancel: {
            let waiter = state.withLockedValue { state in
                let waiter = state.waiters.removeValue(forKey: id)
                if waiter == nil { state.cancelled.insert(id) }
                return waiter
            }
            waiter?.continuation.resume()
        }
        // A cancellation after the condition was satisfied has left its identifier.
        state.withLockedValue { _ = $0.cancelled.remove(id) }
    }
}
