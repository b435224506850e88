import CProcess
import Glibc
import Synchronization

/// The orphans of commands, which this process has adopted: descendants that left the session of their command and lost their
/// parents. Only the thread of a `ProcessWatch` uses the object.
final class OrphanWatch {
    typealias Instant = ContinuousClock.Instant

    /// The interval between attempts to reap orphans.
    private static let pause = Duration.milliseconds(500)
    /// The interval if the last attempt found a command that just started or ended, and while the run waits for orphans.
    private static let shortPause = Duration.milliseconds(20)
    /// The time after a kill in which the system removes a process.
    private static let patience = Duration.seconds(1)

    private let watch: ProcessWatch
    /// The children that this process had before the run, which no command has started.
    private let others: Set<pid_t>
    private var nextReap: Instant?
    private var nextLook: Instant?
    private var deadline: Instant?
    private var done: (@Sendable () -> Void)?

    init(_ watch: ProcessWatch) {
        self.watch = watch
        _ = cprocess_adopt_orphans()
        // Reading all processes takes longer than starting a command, and few programs start opq with children.
        others =
            cprocess_has_children() == 0
            ? [] : Set(ProcessTable().children(of: getpid(), except: []).map(\.identifier))
        nextReap = .now
    }

    /// The instant for the next call of ``timePassed(at:_:)``.
    var nextInstant: Instant? { [nextReap, nextLook].compactMap(\.self).min() }

    /// Sends a signal to the orphans, which have to end.
    func end(by signal: Int32, at now: Instant, _ table: () -> ProcessTable) {
        if deadline == nil { deadline = now + ProcessGroup.grace }
        if signal == SIGKILL { deadline = now }
        for orphan in orphans(in: table()) { ProcessTable.send(signal, to: orphan) }
    }

    /// Calls `done` when no orphan is left. If none has to end, calls `done` at once.
    func wait(at now: Instant, _ done: @escaping @Sendable () -> Void) {
        guard deadline != nil else { return done() }
        self.done = done
        nextLook = now
    }

    /// Reaps ended orphans, and ends the others if their time is over.
    func timePassed(at now: Instant, _ table: () -> ProcessTable) {
        if let next = nextReap, next <= now { nextReap = now + (reap() ? Self.pause : Self.shortPause) }
        guard let next = nextLook, next <= now, let deadline else { return }
        _ = reap()
        let left = orphans(in: table())
        if left.isEmpty || now - deadline > Self.patience {
            nextLook = nil
            done.take()?()
        } else {
            if now >= deadline { for orphan in left { ProcessTable.send(SIGKILL, to: orphan) } }
            nextLook = now + Self.shortPause
        }
    }

    private func orphans(in table: ProcessTable) -> [ProcessTable.Entry] {
        table.children(of: getpid(), except: others.union(watch.leaders.withLock(\.self)))
    }

    /// Reaps ended children that are not commands. Returns whether no other ended child may hide some.
    private func reap() -> Bool {
        while true {
            let child = cprocess_ended_child()
            guard child > 0 else { return true }
            // The child may be a command whose start another thread has not recorded yet. The count is read after the child
            // was seen, and a thread increments the count before its command exists.
            guard watch.startingCount.load(ordering: .sequentiallyConsistent) == 0,
                !watch.leaders.withLock({ $0.contains(child) })
            else { return false }
            var status: Int32 = 0
            guard cprocess_reap(child, &status) > 0 else { return true }
        }
    }
}
