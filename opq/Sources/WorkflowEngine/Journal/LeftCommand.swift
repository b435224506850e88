import CProcess
import Glibc

/// The identity of the first process of a command, which is also the identifier of its session.
///
/// The system reuses identifiers. So a process is the same only if its start lies between two readings of the clock.
struct ProcessMark: Equatable, Sendable {
    let identifier: pid_t
    /// The time since the start of the system before and after the start of the process, in nanoseconds.
    let earliest, latest: Int64

    /// The time since the start of the system in nanoseconds, without a system call.
    static var now: Int64 { cprocess_time(CLOCK_BOOTTIME) }

    /// Whether a process that started at a number of ticks of 10 ms is this one.
    func isStart(_ ticks: Int64, perSecond: Int64 = Int64(sysconf(Int32(_SC_CLK_TCK)))) -> Bool {
        let length = 1_000_000_000 / max(perSecond, 1)
        return (earliest / length - 1...latest / length + 1).contains(ticks)
    }
}

extension ProcessMark {
    init(from reader: inout ByteReader) {
        self.init(
            identifier: pid_t(truncatingIfNeeded: reader.int()), earliest: Int64(reader.int()),
            latest: Int64(reader.int()))
    }

    func write(to writer: inout ByteWriter) {
        writer.add(int: Int(identifier))
        writer.add(int: Int(earliest))
        writer.add(int: Int(latest))
    }
}

/// A command that still runs, although the opq that started it was killed.
struct LeftCommand: Sendable {
    let name: String
    let mark: ProcessMark

    private static let pause = Duration.milliseconds(10)

    /// Whether the first process of the command runs.
    var isRunning: Bool {
        guard let (entry, ticks) = ProcessTable.process(mark.identifier), !entry.isDead else { return false }
        return entry.session == mark.identifier && mark.isStart(ticks)
    }

    /// Ends the processes of the session, and returns when none is left. A process that ignores `SIGTERM` is killed after
    /// `grace`.
    ///
    /// - Returns: Whether all have ended.
    func end(grace: Duration = ProcessGroup.grace) -> Bool {
        let clock = ContinuousClock()
        let start = clock.now
        let group = ProcessGroup(identifier: mark.identifier)
        // The first process keeps the identifier of the session from other processes as long as it runs.
        group.sendToSession(SIGTERM, ProcessTable())
        while clock.now - start < grace + .seconds(5) {
            // The members are looked up before the leader, whose identifier is free only when all of them are gone.
            let table = ProcessTable()
            if table.members(of: mark.identifier, inSession: true).isEmpty { return true }
            if clock.now - start >= grace { group.sendToSession(SIGKILL, table) }
            usleep(UInt32(Self.pause / .microseconds(1)))
        }
        return false
    }
}

extension RunStore {
    /// Ends the commands of the last run that still run, because opq was killed. Otherwise a command could write a file while
    /// another one of the same operation makes it.
    ///
    /// Blocks for two seconds or more if a command ignores `SIGTERM`.
    ///
    /// - Returns: A note for the user about each command.
    public func endLeftCommands() -> [String] {
        history.leftCommands.filter(\.isRunning).map { command in
            let process = "'\(command.name)' (process \(command.mark.identifier))"
            return command.end()
                ? "ended \(process), which an opq that was killed had left behind"
                : "cannot end \(process), which an opq that was killed had left behind"
        }
    }
}
