import Operations
import SchedulerCore

/// A clock that stands still until it is moved.
///
/// Who sleeps is woken when the clock is moved to the deadline or beyond, in the order of deadlines. With
/// `ManualExecutor.runUntilIdle(advancing:)` it moves only when nothing can run: time passes in no time.
public final class VirtualClock: Clock {
    /// So long after the clock was made.
    public struct Instant: InstantProtocol {
        public let offset: Swift.Duration

        public init(offset: Swift.Duration = .zero) { self.offset = offset }

        public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }

        public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }

        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private typealias Continuation = UnsafeContinuation<Void, any Error>

    private struct State {
        var now = Instant()
        var lastSleeper = 0
        var sleepers: [Int: (deadline: Instant, continuation: Continuation)] = [:]
        /// Those that were cancelled before they had begun to sleep.
        var cancelled: Set<Int> = []
    }

    private let state = Locked(State())

    public init() {}

    public var now: Instant { state.withLock { $0.now } }
    public var minimumResolution: Swift.Duration { .nanoseconds(1) }

    /// How many sleep.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// When the next sleeper is to be woken; nil when nobody sleeps. O(sleepers).
    public var nextDeadline: Instant? { state.withLock { $0.sleepers.values.map(\.deadline).min() } }

    // MARK: - Sleeping

    /// Suspends until the clock shows the deadline. Throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        let sleeper = state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: Continuation) in
                let result: Result<Void, any Error>? = state.withLock { state in
                    if state.cancelled.remove(sleeper) != nil { return .failure(CancellationError()) }
                    if deadline <= state.now { return .success(()) }
                    state.sleepers[sleeper] = (deadline, continuation)
                    return nil
                }
                if let result { continuation.resume(with: result) }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let found = state.sleepers.removeValue(forKey: sleeper)?.continuation
                if found == nil { state.cancelled.insert(sleeper) }
                return found
            }
            continuation?.resume(throwing: CancellationError())
        }
        _ = state.withLock { $0.cancelled.remove(sleeper) }
    }

    // MARK: - Moving

    /// Moves the clock, and wakes who is due.
    public func advance(by duration: Swift.Duration) { advance(to: now.advanced(by: duration)) }

    /// Moves the clock, never back, and wakes who is due, in the order of deadlines.
    public func advance(to instant: Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, instant)
            let due = state.sleepers.filter { $0.value.deadline <= state.now }
            for sleeper in due.keys { state.sleepers[sleeper] = nil }
            return due
        }
        for (_, sleeper) in due.sorted(by: { ($0.value.deadline, $0.key) < ($1.value.deadline, $1.key) }) {
            sleeper.continuation.resume()
        }
    }

    /// Moves the clock to the earliest deadline; false when nobody sleeps.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        guard let next = nextDeadline else { return false }
        advance(to: next)
        return true
    }
}
