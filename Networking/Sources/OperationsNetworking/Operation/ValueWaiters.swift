import Operations

/// The tasks that await the value of an operation. When the last of them is cancelled, it cancels the operation.
final class ValueWaiters: Sendable {
    private struct State {
        var last = 0
        var waiting: Set<Int> = []
    }

    private let state = Locked(State())

    /// Suspends until the operation has finished and has left its queue.
    ///
    /// - Throws: `OperationError` without waiting, when the operation would wait for itself.
    func wait(for operation: AsyncOperation) async throws {
        let number = state.withLock { state in
            state.last += 1
            state.waiting.insert(state.last)
            return state.last
        }
        // A cancelled task has left already, in the handler.
        defer { _ = leaves(number) }
        _ = try await withTaskCancellationHandler {
            try await operation.waitForOutcome()
        } onCancel: {
            if leaves(number) { operation.cancel() }
        }
    }

    /// Removes a task. Returns whether it was the last task.
    private func leaves(_ number: Int) -> Bool {
        state.withLock { $0.waiting.remove(number) != nil && $0.waiting.isEmpty }
    }

    /// The number of tasks that wait now.
    var count: Int { state.withLock { $0.waiting.count } }
}
