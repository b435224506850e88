import HTTPCore
import Operations

/// The time limits of attempts. Stops an attempt that was idle for too long, or that took too long as a whole.
///
/// One task sleeps for all attempts of a session, until the earliest possible end. One task and one timer per attempt would
/// cost more than the rest of a small transfer. The timers would also remain until they expire.
final class HTTPWatch: Sendable {
    private struct State {
        var decisions = WatchState()
        var watched: [Int: Watched] = [:]
        var last = 0
        /// The sleeping task, with its number.
        var task: (sleeper: Int, Task<Void, Never>)?
    }

    private struct Watched {
        let transfer: Transfer
        let attempt: Int
        let start: Duration
    }

    private let ticker: Ticker
    private let state = Locked(State())

    init(_ ticker: Ticker) { self.ticker = ticker }

    /// Begins to watch an attempt.
    ///
    /// - Returns: The number to pass to `end`; nil if the attempt has no time limit.
    func begin(_ transfer: Transfer, attempt: Int) -> Int? {
        let watched = Watched(transfer: transfer, attempt: attempt, start: ticker.now())
        guard let end = transfer.end(startedAt: watched.start, now: watched.start)?.time else { return nil }
        let (number, sleep) = state.withLock { state in
            state.last += 1
            state.watched[state.last] = watched
            return (state.last, state.decisions.added(end: end))
        }
        if let sleep { replace(by: sleep) }
        return number
    }

    /// Stops watching an attempt.
    func end(_ number: Int) {
        let old = state.withLock { $0.watched.removeValue(forKey: number) }
        withExtendedLifetime(old) {}
    }

    /// Stops the sleeping task. No attempt may begin afterwards.
    func close() { state.withLock { $0.task }?.1.cancel() }

    private func replace(by sleep: WatchState.Sleep) {
        let task = Task.detached(executorPreference: OperationQueue.ofTimers) { await self.run(sleep) }
        let replaced = state.withLock { state -> Task<Void, Never>? in
            // A later sleeper may have been stored before this one.
            if let later = state.task, later.sleeper > sleep.sleeper { return task }
            defer { state.task = (sleep.sleeper, task) }
            return state.task?.1
        }
        replaced?.cancel()
    }

    private func run(_ sleep: WatchState.Sleep) async {
        var until = sleep.until
        while true {
            do { try await ticker.sleepUntil(until) } catch { return }
            guard state.withLock({ $0.decisions.woke(sleep.sleeper) }) else { return }
            let now = ticker.now()
            var next: Duration?
            for watched in state.withLock({ Array($0.watched.values) }) {
                guard let end = watched.transfer.end(startedAt: watched.start, now: now) else { continue }
                if end.time > now {
                    next = min(next ?? end.time, end.time)
                } else {
                    watched.transfer.stop(watched.attempt, because: end.limit)
                }
            }
            guard let next = state.withLock({ $0.decisions.looked(next: next) }) else { return }
            until = next
        }
    }
}
