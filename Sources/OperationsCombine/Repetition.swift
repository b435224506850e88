#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif
import Operations

/// What a scheduler was given to do, as something that may go to other threads.
struct Action: @unchecked Sendable {
    // Sendable: who schedules a closure hands it over to a scheduler, which runs it elsewhere. That is what it is for, and
    // schedulers call an action once at a time.
    let run: () -> Void

    init(_ run: @escaping () -> Void) { self.run = run }
}

/// An action that a queue runs at a date and then each interval later.
///
/// waiting → queued → running → waiting …, and from each of them to cancelled. A run that the queue skips, because others
/// have cancelled its operation, goes from queued to waiting.
final class Repetition: Sendable {
    private enum Phase {
        case waiting(Agenda.Entry)
        case queued(Operations.Operation)
        case running, cancelled
    }

    private struct State {
        var phase = Phase.running
        /// Nil when cancelled: it often holds, by ways of its own, the token that holds this.
        var action: Action?
        /// How many intervals the last run came after the first date.
        var count = 0.0
    }

    private let queue: Operations.OperationQueue
    private let agenda: Agenda
    private let first: TimeInterval
    private let interval: TimeInterval
    private let state: Locked<State>

    /// - Parameters:
    ///   - first: The date of the first run, in seconds since the reference date.
    ///   - interval: In seconds; not above zero: without a pause.
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

    /// From here on no run begins.
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
        // In this order: an entry may be taken up before `enter` has returned.
        guard advance({ if case .running = $0 { .waiting(entry) } else { nil } }) else { return }
        agenda.enter(entry, at: date)
    }

    private func add() {
        let operation = BlockOperation { self.run() }
        operation.completionBlock = { self.waitAgain() }
        guard advance({ if case .waiting = $0 { .queued(operation) } else { nil } }) else { return }
        do { try queue.tryAddOperation(operation) } catch {
            // The queue is bounded and full (M12): this run is left out.
            waitAgain(isLeftOut: true)
        }
    }

    private func run() {
        // This decides, not whether the operation is cancelled: who has returned from `cancel()` sees no run begin.
        guard advance({ if case .queued = $0 { .running } else { nil } }) else { return }
        // Cancelled since: then it is not as if it had begun.
        state.withLock { $0.action }?.run()
    }

    /// The run has ended, or was skipped.
    private func waitAgain(isLeftOut: Bool = false) {
        guard advance({ if case .cancelled = $0 { nil } else { .running } }) else { return }
        let now = agenda.timeline.now
        // A repetition without a pause is not to ask a full queue all the time.
        wait(until: isLeftOut && interval <= 0 ? now + 0.05 : next(after: now))
    }

    /// The next of the dates that has not passed.
    private func next(after now: TimeInterval) -> TimeInterval {
        guard interval > 0 else { return now }
        let passed = ((now - first) / interval).rounded(.down)
        return state.withLock { state in
            state.count = max(state.count, passed) + 1
            return first + state.count * interval
        }
    }

    /// Goes on to another phase, unless there is none.
    private func advance(_ transition: (Phase) -> Phase?) -> Bool {
        // The old phase is let go when the lock is.
        let old: Phase? = state.withLock { state in
            guard let next = transition(state.phase) else { return nil }
            defer { state.phase = next }
            return state.phase
        }
        return withExtendedLifetime(old) { old != nil }
    }
}
