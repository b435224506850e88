import Glibc

/// The state of a command from its start until its group is empty.
///
/// The value performs no actions. Its methods receive events and return the actions for the caller.
struct ProcessLife {
    typealias Instant = ContinuousClock.Instant

    /// An action that the caller performs on the processes of the command.
    enum Action: Equatable {
        /// Send the signal to the group, and to the processes that left the group but not the session.
        case signal(Int32)
        /// Ask the processes that are left in the group to end.
        case endGroup
        /// Kill all processes of the group, and those that left the group but not the session.
        case kill
        /// Reap the ended leader, and call ``reaped(_:)``. Until then, no other process can get its identifier.
        case reap
        /// Check whether a process is left, and call ``looked(isAlive:at:)`` with the result.
        case look
        /// Report the end of the command, because no process is left or all were killed.
        case finish
    }

    private enum Stage {
        case running
        /// The group was killed, and the end of the leader is not yet known.
        case killed
        /// The leader has ended, and the rest of the group is ending.
        case leaving
    }

    /// The pause before the first check for remaining processes. Each later pause is twice as long.
    static let shortestPause = Duration.milliseconds(1)
    /// The longest pause between two checks.
    static let longestPause = Duration.milliseconds(20)

    private let grace: Duration
    private var limit: Instant?
    private var stage = Stage.running
    private var deadline: Instant?
    private var pause = shortestPause
    private var nextLook: Instant?

    /// How the leader ended.
    private(set) var end = ProcessEnd.unknown("the command has not ended")
    /// Whether the time limit has ended the command.
    private(set) var hasTimedOut = false
    /// Whether the command was asked to end. Then also the processes that left its group but not its session have to end.
    private(set) var isStopped = false

    /// Creates the state of a group with a running leader.
    ///
    /// - Parameters:
    ///   - grace: The time to end after the request to end.
    ///   - limit: The instant at which the command is asked to end; `nil` if the command has no time limit.
    init(grace: Duration, limit: Instant? = nil) { (self.grace, self.limit) = (grace, limit) }

    /// The instant for the next call of ``timePassed(at:)``. `nil` if no call is needed before another event.
    var nextInstant: Instant? {
        switch stage {
        case .running: deadline ?? limit
        case .killed: nil
        case .leaving: nextLook
        }
    }

    /// Handles a request to end the command by a signal.
    mutating func stop(by signal: Int32, at now: Instant) -> Action? {
        isStopped = true
        guard case .running = stage, deadline == nil else { return nil }
        deadline = now + grace
        return .signal(signal)
    }

    /// Handles a request to kill the command and its group.
    mutating func kill(at now: Instant) -> Action {
        isStopped = true
        deadline = now
        if case .leaving = stage { nextLook = now } else { stage = .killed }
        return .kill
    }

    /// Handles the end of the leader before it is reaped. The rest of the group is asked to end as well.
    mutating func leaderEnded(at now: Instant) -> [Action] {
        stage = .leaving
        deadline = deadline ?? now + grace
        return [.endGroup, .reap, .look]
    }

    /// Handles the end of the leader, as the system reports it.
    mutating func reaped(_ end: ProcessEnd) { self.end = end }

    /// Handles the result of a check for remaining processes.
    mutating func looked(isAlive: Bool, at now: Instant) -> [Action] {
        guard case .leaving = stage else { return [] }
        guard isAlive else { return [.finish] }
        if let deadline, deadline <= now { return [.kill, .finish] }
        nextLook = min(now + pause, deadline ?? now + pause)
        pause = min(pause * 2, Self.longestPause)
        return []
    }

    /// Handles the passing of ``nextInstant``.
    mutating func timePassed(at now: Instant) -> Action? {
        guard let instant = nextInstant, instant <= now else { return nil }
        if case .leaving = stage { return .look }
        if deadline == nil {
            hasTimedOut = true
            return stop(by: SIGTERM, at: now)
        }
        return kill(at: now)
    }
}
