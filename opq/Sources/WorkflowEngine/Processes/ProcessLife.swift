/// What to do about a process group, from the start of its leader until nothing of the group is left.
///
/// A plain value: it is told what has happened and answers what to do.
struct ProcessLife {
    typealias Instant = ContinuousClock.Instant

    /// Something to be done about the group.
    enum Action: Equatable {
        /// Ask all in the group to end.
        case terminate
        /// End all in the group at once.
        case kill
        /// Release the identifier of the leader, which has ended. Until then no other process can have it.
        case reap
        /// Find out whether anything of the group is left, and call ``looked(isAlive:at:)``.
        case look
        /// Nothing is left: the command has ended so.
        case finish(ProcessEnd)
    }

    private enum Stage {
        case running
        /// All were killed; the end of the leader is to be seen yet.
        case killed
        /// The leader has ended so; the rest of the group is ending.
        case leaving(ProcessEnd)
    }

    /// The pause before the first look at what the leader has left, which the following double.
    static let shortestPause = Duration.milliseconds(1)
    /// The longest pause between looks.
    static let longestPause = Duration.milliseconds(20)

    private let grace: Duration
    private var stage = Stage.running
    private var deadline: Instant?
    private var pause = shortestPause
    private var nextLook: Instant?

    /// A group whose leader runs, and whose processes have so long to end once they were asked to.
    init(grace: Duration) { self.grace = grace }

    /// When ``timePassed(at:)`` is to be called next; `nil`: not before something else happens.
    var nextInstant: Instant? {
        switch stage {
        case .running: deadline
        case .killed: nil
        case .leaving: nextLook
        }
    }

    /// The command is to end.
    mutating func cancel(at now: Instant) -> Action? {
        guard case .running = stage, deadline == nil else { return nil }
        deadline = now + grace
        return .terminate
    }

    /// The command and all in its group are to end at once.
    mutating func kill(at now: Instant) -> Action {
        deadline = now
        if case .leaving = stage { nextLook = now } else { stage = .killed }
        return .kill
    }

    /// The leader has ended, and has not been reaped. The rest of the group is asked to end as well.
    mutating func leaderEnded(_ end: ProcessEnd, at now: Instant) -> [Action] {
        stage = .leaving(end)
        deadline = deadline ?? now + grace
        return [.terminate, .reap, .look]
    }

    /// There is something left of the group, or not.
    mutating func looked(isAlive: Bool, at now: Instant) -> [Action] {
        guard case .leaving(let end) = stage else { return [] }
        guard isAlive else { return [.finish(end)] }
        if let deadline, deadline <= now { return [.kill, .finish(end)] }
        nextLook = min(now + pause, deadline ?? now + pause)
        pause = min(pause * 2, Self.longestPause)
        return []
    }

    /// Time has passed.
    mutating func timePassed(at now: Instant) -> Action? {
        guard let instant = nextInstant, instant <= now else { return nil }
        if case .leaving = stage { return .look }
        return kill(at: now)
    }
}
