#if Networking
import HTTPCore
import Operations

/// Stops attempts when nothing has come for too long, or they take too long in all (rule R10).
///
/// One task sleeps for all attempts of a session, until the first that may have to be stopped. A task and a timer for each
/// would cost more than the rest of a small transfer, and the timers would stay until they are due.
final class HTTPWatch: Sendable {
    private struct State {
        var decisions = WatchState()
        var watched: [Int: Watched] = [:]
        var last = 0
        /// Of the sleeper with this number.
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

    /// From now on, until it is told to end.
    ///
    /// - Returns: By what it is ended; nil if the attempt may last for ever.
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

    func end(_ number: Int) {
        let old = state.withLock { $0.watched.removeValue(forKey: number) }
        withExtendedLifetime(old) {}
    }

    /// Nobody will begin any more.
    func close() { state.withLock { $0.task }?.1.cancel() }

    private func replace(by sleep: WatchState.Sleep) {
        let task = Task.detached { await self.run(sleep) }
        let replaced = state.withLock { state -> Task<Void, Never>? in
            // A later one may have come here before.
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
#endif
