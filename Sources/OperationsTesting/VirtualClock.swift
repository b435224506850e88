import Operations
import OperationsPrimitives

/// A clock that advances only when a test moves it.
///
/// A sleeper resumes when the clock reaches its deadline. Sleepers resume in the order of their deadlines. With
/// `ManualExecutor.runUntilIdle(advancing:)`, the clock advances only when no step is ready, so long delays take no real time.
public final class VirtualClock: Clock {
    /// An instant, as the time since the clock was created.
    public struct Instant: InstantProtocol {
        /// The time since the clock was created.
        public let offset: Swift.Duration

        /// Creates an instant at this time after the creation of the clock.
        public init(offset: Swift.Duration = .zero) { self.offset = offset }

        /// Returns the instant that is later by this duration.
        public func advanced(by duration: Swift.Duration) -> Instant { Instant(offset: offset + duration) }

        /// Returns the duration from this instant to another one; negative if the other one is earlier.
        public func duration(to other: Instant) -> Swift.Duration { other.offset - offset }

        public static func < (a: Instant, b: Instant) -> Bool { a.offset < b.offset }
    }

    private typealias Continuation = UnsafeContinuation<Void, any Error>

    /// The order of sleepers: by deadline, and for the same deadline by the start of the sleep.
    private struct Turn: Comparable {
        let deadline: Instant
        let sleeper: Int

        static func < (a: Turn, b: Turn) -> Bool { (a.deadline, a.sleeper) < (b.deadline, b.sleeper) }
    }

    private struct State {
        var now = Instant()
        var lastSleeper = 0
        var sleepers: [Int: Continuation] = [:]
        /// The turns of the sleepers. A turn whose sleeper no longer sleeps is skipped.
        private var turns = RankedHeap<Turn, Void>()
        /// The tasks that were cancelled before they began to sleep or to wait.
        var cancelled: Set<Int> = []
        /// The tasks that wait for sleepers, with the number of sleepers.
        var waiting: [Int: (count: Int, continuation: UnsafeContinuation<Void, Never>)] = [:]

        mutating func add(_ sleeper: Int, until deadline: Instant, _ continuation: Continuation) {
            sleepers[sleeper] = continuation
            turns.insert((), at: Turn(deadline: deadline, sleeper: sleeper))
        }

        mutating func cancel(_ sleeper: Int) -> Continuation? {
            guard let continuation = sleepers.removeValue(forKey: sleeper) else {
                cancelled.insert(sleeper)
                return nil
            }
            if turns.count > 32, turns.count > 2 * sleepers.count {
                turns.removeAll { [sleepers] turn, _ in sleepers[turn.sleeper] == nil }
            }
            return continuation
        }

        mutating func nextDeadline() -> Instant? {
            while let turn = turns.first?.rank {
                if sleepers[turn.sleeper] != nil { return turn.deadline }
                turns.popFirst()
            }
            return nil
        }

        /// Removes the sleepers that are due, and returns them in the order in which they resume.
        mutating func takeDue() -> [Continuation] {
            var due: [Continuation] = []
            while let deadline = nextDeadline(), deadline <= now, let turn = turns.first?.rank {
                turns.popFirst()
                if let continuation = sleepers.removeValue(forKey: turn.sleeper) { due.append(continuation) }
            }
            return due
        }

        /// Removes the tasks that waited for at most the present number of sleepers, and returns them in the order of their calls.
        mutating func takeSatisfied() -> [UnsafeContinuation<Void, Never>] {
            let satisfied = waiting.filter { $0.value.count <= sleepers.count }.sorted { $0.key < $1.key }
            for waiter in satisfied { waiting[waiter.key] = nil }
            return satisfied.map(\.value.continuation)
        }
    }

    private let state = Locked(State())

    /// Creates a clock whose time is zero.
    public init() {}

    /// The present instant. Only the functions that advance the clock change it.
    public var now: Instant { state.withLock { $0.now } }
    /// One nanosecond.
    public var minimumResolution: Swift.Duration { .nanoseconds(1) }

    /// The number of sleeping tasks.
    public var sleeperCount: Int { state.withLock { $0.sleepers.count } }

    /// The earliest deadline of a sleeper; nil when no task sleeps. Amortized O(log n) for n sleepers.
    public var nextDeadline: Instant? { state.withLock { $0.nextDeadline() } }

    /// Suspends until at least `count` tasks sleep on this clock, or until the calling task is cancelled.
    ///
    /// Use this function in tests of operations on threads. A task that begins to sleep after a move of the clock is not
    /// resumed by that move. With a manual executor, use `runUntilIdle` instead.
    public func sleepers(atLeast count: Int) async {
        let waiter = newNumber()
        await withTaskCancellationHandler {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
                let mustWait = state.withLock { state in
                    if state.cancelled.remove(waiter) != nil || state.sleepers.count >= count { return false }
                    state.waiting[waiter] = (count, continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                let found = state.waiting.removeValue(forKey: waiter)?.continuation
                if found == nil { state.cancelled.insert(waiter) }
                return found
            }
            continuation?.resume()
        }
        _ = state.withLock { $0.cancelled.remove(waiter) }
    }

    private func newNumber() -> Int {
        state.withLock { state in
            state.lastSleeper += 1
            return state.lastSleeper
        }
    }

    // MARK: - Sleeping

    /// Suspends until the clock reaches the deadline. If it has reached it, other tasks run first.
    ///
    /// - Throws: `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Swift.Duration? = nil) async throws {
        // Otherwise a loop of such sleeps would never end its step.
        if deadline <= now { await Task.yield() }
        let sleeper = newNumber()
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { (continuation: Continuation) in
                let (result, satisfied) = state.withLock {
                    state -> (Result<Void, any Error>?, [UnsafeContinuation<Void, Never>]) in
                    if state.cancelled.remove(sleeper) != nil { return (.failure(CancellationError()), []) }
                    if deadline <= state.now { return (.success(()), []) }
                    state.add(sleeper, until: deadline, continuation)
                    return (nil, state.waiting.isEmpty ? [] : state.takeSatisfied())
                }
                if let result { continuation.resume(with: result) }
                for waiter in satisfied { waiter.resume() }
            }
        } onCancel: {
            state.withLock { $0.cancel(sleeper) }?.resume(throwing: CancellationError())
        }
        _ = state.withLock { $0.cancelled.remove(sleeper) }
    }

    // MARK: - Moving the clock

    /// Advances the clock by this duration, and resumes the sleepers that are due.
    public func advance(by duration: Swift.Duration) { advance(to: now.advanced(by: duration)) }

    /// Advances the clock to this instant, and resumes the sleepers that are due in the order of their deadlines. The clock
    /// never moves back.
    public func advance(to instant: Instant) {
        let due = state.withLock { state in
            state.now = max(state.now, instant)
            return state.takeDue()
        }
        for sleeper in due { sleeper.resume() }
    }

    /// Advances the clock to the earliest deadline. Returns false if no task sleeps.
    @discardableResult
    public func advanceToNextSleeper() -> Bool {
        guard let next = nextDeadline else { return false }
        advance(to: next)
        return true
    }
}
