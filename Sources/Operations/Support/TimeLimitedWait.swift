/// Waits until `body` returns, or a time is over. `body` has to end when its task is cancelled.
///
/// - Returns: Whether `body` has returned by itself.
func withTimeLimit(
    _ limit: Duration, _ clock: some Clock<Duration>, _ body: @escaping @Sendable () async -> Void
) async -> Bool {
    await withTaskGroup(of: Bool.self) { group in
        group.addTask {
            await body()
            return !Task.isCancelled
        }
        group.addTask {
            try? await clock.sleepFully(for: max(limit, .zero))
            return false
        }
        let isInTime = await group.next() ?? false
        group.cancelAll()
        return isInTime
    }
}
