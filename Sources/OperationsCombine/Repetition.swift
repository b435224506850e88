#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Operations

/// An action that a scheduler received, in a form that can be sent to other threads.
struct Action: @unchecked Sendable {
    // Sendable: the caller of a scheduler hands the closure over, and the scheduler runs it elsewhere. A scheduler never runs
    // an action twice at the same time.
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

/// An action that a queue runs at a date, and again at each interval.
///
/// The phases are waiting → queued → running → waiting, and each phase may change to cancelled. If the queue skips a run
/// because its operation was cancelled, the phase changes from queued to waiting.
final class Repetition: Sendable {
    private enum Phase {
        case waiting(Agenda.Entry)
        case queued(Operations.Operation)
        case running, cancelled
    }

    private struct State {
        var phase = Phase.running
        /// The action; nil after the cancellation, because the action often holds the token that holds this repetition.
        var action: Action?
        /// The number of intervals between the first date and the last run.
        var count = 0.0
    }

    private let queue: Operations.OperationQueue
    private let agenda: Agenda
    private let first: TimeInterval
    private let interval: TimeInterval
    private let state: Locked<State>

    /// Creates a repetition.
    ///
    /// - Parameters:
    ///   - action: The action to run.
    ///   - queue: The queue that runs the action.
    ///   - agenda: The agenda that waits for the dates.
    ///   - first: The date of the first run, in seconds since the reference date.
    ///   - interval: The interval in seconds. If it is zero or negative, the action is repeated without a pause.
    init(
        _ action: Action, on queue: Operations.OperationQueue, by agenda: Agenda, from first: TimeInterval,
        every interval: TimeInterval
    ) {
        state = Locked(State(action: action))
        self.queue = queue
        self.agenda = agenda
        self.first = first
        self.interval = interval
    }

    func begin() { wait(until: first) }

    /// Cancels the repetition. No run begins after this call.
    func cancel() {
        let old = state.withLock { state in
            defer { (state.phase, state.action) = (.cancelled, nil) }
            return state
        }
        switch old.phase {
        case .waiting(let entry): agenda.crossOut(entry)
        case .queued(let operation): operation.cancel()
        case .running, .cancelled: break
        }
    }

    // MARK: - Steps

    private func wait(until date: TimeInterval) {
        let entry = Agenda.Entry { self.add() }
        // The phase must change first, because the entry's work may start before `enter` has returned.
        guard advance({ if case .running = $0 { .waiting(entry) } else { nil } }) else { return }
        agenda.enter(entry, at: date)
    }

    private func add() {
        let operation = BlockOperation { self.run() }
        operation.completionBlock = { self.waitAgain() }
        guard advance({ if case .waiting = $0 { .queued(operation) } else { nil } }) else { return }
        do { try queue.tryAddOperation(operation) } catch {
            // The queue is bounded and full, so this run is skipped.
            waitAgain(isLeftOut: true)
        }
    }

    private func run() {
        // The phase decides, not the operation's `isCancelled`: no run may begin after `cancel()` has returned.
        guard advance({ if case .queued = $0 { .running } else { nil } }) else { return }
        // If the repetition was cancelled since, the action does not run.
        state.withLock { $0.action }?.run()
    }

    /// Waits for the next date, after a run has ended or was skipped.
    private func waitAgain(isLeftOut: Bool = false) {
        guard advance({ if case .cancelled = $0 { nil } else { .running } }) else { return }
        let now = agenda.timeline.now
        // A repetition without a pause must not try to add to a full queue all the time.
        wait(until: isLeftOut && interval <= 0 ? now + 0.05 : next(after: now))
    }

    /// Returns the next date that has not passed.
    private func next(after now: TimeInterval) -> TimeInterval {
        guard interval > 0 else { return now }
        let passed = ((now - first) / interval).rounded(.down)
        return state.withLock { state in
            // The system's clock may have been set back by more than an interval.
            state.count = (passed < state.count - 1 ? passed : max(state.count, passed)) + 1
            return first + state.count * interval
        }
    }

    /// Changes the phase, unless the transition returns nil.
    private func advance(_ transition: (Phase) -> Phase?) -> Bool {
        // The old phase is released after the lock.
        let old: Phase? = state.withLock { state in
            guard let next = transition(state.phase) else { return nil }
            defer { state.phase = next }
            return state.phase
        }
        return withExtendedLifetime(old) { old != nil }
    }
}
