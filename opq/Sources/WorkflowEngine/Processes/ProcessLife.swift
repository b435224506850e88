/// The state of a process group from the start of its leader until the group is empty.
///
/// The value performs no actions. Its methods receive events and return the actions for the caller.
struct ProcessLife {
    typealias Instant = ContinuousClock.Instant

    /// An action that the caller performs on the group.
    enum Action: Equatable {
        /// Send `SIGTERM` to the group.
        case terminate
        /// Kill all processes in the group.
        case kill
        /// Reap the ended leader. Until then, no other process can get its identifier.
        case reap
        /// Check whether the group contains a process, and call ``looked(isAlive:at:)`` with the result.
        case look
        /// Report the end of the command, because the group is empty or was killed.
        case finish(ProcessEnd)
    }

    private enum Stage {
        case running
        /// The group was killed, and the end of the leader is not yet known.
        case killed
        /// The leader has ended, and the rest of the group is ending.
        case leaving(ProcessEnd)
    }

    /// The pause before the first check for remaining processes. Each later pause is twice as long.
    static let shortestPause = Duration.milliseconds(1)
    /// The longest pause between two checks.
    static let longestPause = Duration.milliseconds(20)

    private let grace: Duration
    private var stage = Stage.running
    private var deadline: Instant?
    private var pause = shortestPause
    private var nextLook: Instant?

    /// Creates the state of a group with a running leader. `grace` is the time to end after the request to terminate.
    init(grace: Duration) { self.grace = grace }

    /// The instant for the next call of ``timePassed(at:)``. `nil` if no call is needed before another event.
    var nextInstant: Instant? {
        switch stage {
        case .running: deadline
        case .killed: nil
        case .leaving: nextLook
        }
    }

    /// Handles a request to terminate the command.
    mutating func cancel(at now: Instant) -> Action? {
        guard case .running = stage, deadline == nil else { return nil }
        deadline = now + grace
        return .terminate
    }

    /// Handles a request to kill the command and its group.
    mutating func kill(at now: Instant) -> Action {
        deadline = now
        if case .leaving = stage { nextLook = now } else { stage = .killed }
        return .kill
    }

    /// Handles the end of the leader before it is reaped. The rest of the group is asked to end as well.
    mutating func leaderEnded(_ end: ProcessEnd, at now: Instant) -> [Action] {
        stage = .leaving(end)
        deadline = deadline ?? now + grace
        return [.terminate, .reap, .look]
    }

    /// Handles the result of a check for remaining processes.
    mutating func looked(isAlive: Bool, at now: Instant) -> [Action] {
        guard case .leaving(let end) = stage else { return [] }
        guard isAlive else { return [.finish(end)] }
        if let deadline, deadline <= now { return [.kill, .finish(end)] }
        nextLook = min(now + pause, deadline ?? now + pause)
        pause = min(pause * 2, Self.longestPause)
        return []
    }

    /// Handles the passing of ``nextInstant``.
    mutating func timePassed(at now: Instant) -> Action? {
        guard let instant = nextInstant, instant <= now else { return nil }
        if case .leaving = stage { return .look }
        return kill(at: now)
    }
}
