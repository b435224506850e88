import HTTPCore
import Operations

/// A bandwidth cap: delays bytes to keep the rate, and measures the rate. `BandwidthCap` makes the decisions, and this type
/// holds the waiting tasks and the alarm.
final class Throttle: Sendable {
    private struct State {
        var cap: BandwidthCap<Int>
        var meter = BandwidthMeter()
        var waiting: [Int: CheckedContinuation<Void, any Error>] = [:]
        var lastUser = 0
        /// The time of the next alarm; nil without an alarm.
        var alarm: UInt64?
    }

    private let state: Locked<State>
    private let ticker: Ticker

    init(rate: UInt64?, ticker: Ticker) {
        state = Locked(State(cap: BandwidthCap(rate: rate)))
        self.ticker = ticker
    }

    /// The rate in bytes per second; nil for no cap.
    var rate: UInt64? {
        get { state.withLock { $0.cap.rate } }
        set {
            let now = now
            state.withLock { $0.cap.setRate(newValue, at: now) }
            serve(at: now)
        }
    }

    var isCapped: Bool { state.withLock { $0.cap.rate != nil } }

    /// The number of bytes to request at a time.
    var piece: Int { state.withLock { $0.cap.piece } }

    /// The number of waiting tasks.
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// The rate over the last five seconds, in bytes per second.
    var measuredRate: Double {
        let now = now
        return state.withLock { $0.meter.rate(at: now) }
    }

    /// Returns the number of a new user. Each direction of each exchange is a user, because a cancelled exchange may still wait
    /// when the next one begins.
    func newUser() -> Int {
        state.withLock { state in
            state.lastUser += 1
            return state.lastUser
        }
    }

    func passed(_ bytes: Int, at now: UInt64) { state.withLock { $0.meter.record(bytes, at: now) } }

    /// Suspends until this number of bytes may pass.
    ///
    /// - Throws: `CancellationError`, if the bytes may not pass.
    func pass(_ bytes: Int, for user: Int) async throws {
        guard isCapped else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let now = now
                let isCancelled = state.withLock { state in
                    // A task that is cancelled after this check finds its own continuation in `waiting`.
                    guard !Task.isCancelled else { return true }
                    state.cap.request(bytes, for: user, at: now)
                    state.waiting[user] = continuation
                    return false
                }
                if isCancelled { continuation.resume(throwing: CancellationError()) } else { serve(at: now) }
            }
        } onCancel: {
            let now = now
            let continuation = state.withLock { state in
                state.cap.withdraw(user, at: now)
                return state.waiting.removeValue(forKey: user)
            }
            continuation?.resume(throwing: CancellationError())
            serve(at: now)
        }
    }

    /// Resumes the tasks whose turn it is, and sets an alarm for the next one.
    private func serve(at now: UInt64) {
        let (granted, alarm) = state.withLock { state -> ([CheckedContinuation<Void, any Error>], UInt64?) in
            let granted = state.cap.granted(at: now).compactMap { state.waiting.removeValue(forKey: $0) }
            guard let next = state.cap.nextGrant(after: now), next < state.alarm ?? .max else { return (granted, nil) }
            state.alarm = next
            return (granted, next)
        }
        for continuation in granted { continuation.resume() }
        guard let alarm else { return }
        Task(executorPreference: OperationQueue.ofTimers) { [weak self, ticker] in
            try? await ticker.sleepUntil(.nanoseconds(Int64(clamping: alarm)))
            self?.alarmRings(alarm)
        }
    }

    private func alarmRings(_ alarm: UInt64) {
        let now = now
        // An alarm for another time rings separately.
        state.withLock { if $0.alarm == alarm { $0.alarm = nil } }
        serve(at: now)
    }

    private var now: UInt64 { ticker.nanoseconds }
}
