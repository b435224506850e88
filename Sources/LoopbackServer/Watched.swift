#if Networking
import NIOConcurrencyHelpers

/// A value behind a lock; tasks wait until it satisfies them.
final class Watched<Value: Sendable>: Sendable {
    private struct Waiter {
        let isSatisfied: @Sendable (Value) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private struct State {
        var value: Value
        var waiters: [UInt64: Waiter] = [:]
        var lastID: UInt64 = 0
        /// Who was cancelled before it waited.
        var cancelled: Set<UInt64> = []
    }

    private let state: NIOLockedValueBox<State>

    init(_ value: Value) { state = NIOLockedValueBox(State(value: value)) }

    var value: Value { state.withLockedValue { $0.value } }

    /// Changes the value, then resumes whom it satisfies.
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

    /// Suspends until the value satisfies, or the task is cancelled. The predicate is called under the lock.
    func wait(until isSatisfied: @escaping @Sendable (Value) -> Bool) async {
        let id = state.withLockedValue { state in
            state.lastID += 1
            return state.lastID
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLockedValue { state in
                    // The cancellation may have come first; then nobody else resumes this one.
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
        // A cancellation that came after the value had satisfied has left its mark.
        state.withLockedValue { _ = $0.cancelled.remove(id) }
    }
}
#endif
