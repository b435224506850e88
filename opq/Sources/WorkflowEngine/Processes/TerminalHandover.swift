import CProcess
import Glibc
import Synchronization
public import SystemPackage

/// The terminal and the standard streams of this process, which commands with `terminal: true` get one at a time.
///
/// Such a command is in the session of this process and leads a group of its own. If this process is in the foreground, the group
/// of the command comes there in its place, so Ctrl-C and Ctrl-Z reach the command only. A command that is stopped takes the
/// whole run with it, because a shell waits for this process and not for the command.
public final class TerminalHandover: Sendable {
    /// The standard streams of the commands.
    let input, output, errors: FileDescriptor

    private struct State {
        /// The group of the running command.
        var group: pid_t?
        /// Whether the run is stopped, so that a stopped command is no news.
        var isSuspended = false
        /// The modes of the terminal before the command, and those of a command that is stopped.
        var ownModes: termios?
        var modesOfCommand: termios?
    }

    private let state = Mutex(State())
    private let willBegin: @Sendable (PlannedOperation) -> Void
    private let didEnd: @Sendable () -> Void
    private let interrupted: @Sendable (Int32) -> Void
    private let stopped: @Sendable () -> Bool

    /// Creates a handover.
    ///
    /// - Parameters:
    ///   - willBegin: Keeps this process from writing to the terminal until `didEnd` is called.
    ///   - interrupted: Handles a signal of the keyboard that has ended a command in the foreground.
    ///   - stopped: Stops the run because the command was stopped. Returns whether the run will be stopped.
    public init(
        input: FileDescriptor = .standardInput, output: FileDescriptor = .standardOutput,
        errors: FileDescriptor = .standardError,
        willBegin: @escaping @Sendable (PlannedOperation) -> Void = { _ in },
        didEnd: @escaping @Sendable () -> Void = {}, interrupted: @escaping @Sendable (Int32) -> Void = { _ in },
        stopped: @escaping @Sendable () -> Bool = { false }
    ) {
        (self.input, self.output, self.errors) = (input, output, errors)
        (self.willBegin, self.didEnd, self.interrupted, self.stopped) = (willBegin, didEnd, interrupted, stopped)
    }

    // MARK: - The command

    /// Prepares the start of a command. Returns its place.
    func begin(_ operation: PlannedOperation) -> cprocess_place {
        willBegin(operation)
        guard isInForeground else { return cprocess_same_session }
        let modes = modes
        state.withLock { $0.ownModes = modes }
        return cprocess_foreground
    }

    /// Follows a command that has started.
    func started(_ process: CommandProcess) {
        let group = process.identifier
        state.withLock { ($0.group, $0.modesOfCommand) = (group, nil) }
        _ = startThread(named: "opq-terminal") { self.followStops(of: group) }
    }

    /// Takes the terminal back after the end of a command, or after a failed start.
    ///
    /// - Returns: The signal of the keyboard that has ended the command, which was meant for the run too. `nil` for another end.
    func ended(_ end: ProcessEnd?) -> Int32? {
        let (group, ownModes) = state.withLock { state in
            defer { (state.group, state.ownModes, state.modesOfCommand) = (nil, nil, nil) }
            return (state.group, state.ownModes)
        }
        let hadTerminal = ownModes != nil
        let foreground = tcgetpgrp(input.rawValue)
        // A command that could not start may have come to the foreground, too.
        if hadTerminal, foreground == group || foreground > 0 && !Self.exists(foreground) {
            withoutStop {
                tcsetpgrp(input.rawValue, getpgrp())
                // A program that was ended may have left the terminal without echo.
                if end != .exit(0), var modes = ownModes { tcsetattr(input.rawValue, TCSADRAIN, &modes) }
            }
        }
        didEnd()
        guard hadTerminal, case .signal(let signal)? = end, signal == SIGINT || signal == SIGQUIT else { return nil }
        interrupted(signal)
        return signal
    }

    /// Waits for stops of the command until it ends.
    private func followStops(of group: pid_t) {
        while cprocess_await_stop(group) > 0 {
            let isNews = state.withLock { $0.group == group && !$0.isSuspended }
            // The command may have been continued since, and this process with it.
            guard isNews, Self.isStopped(group) else { continue }
            if !stopped() {
                // No shell could continue this process. A command that is stopped again at once must not keep a processor busy.
                usleep(100_000)
                Glibc.kill(-group, SIGCONT)
            }
        }
    }

    // MARK: - This process

    /// Takes the terminal back before this process is stopped. ``giveAgain()`` and ``resumed()`` follow.
    public func suspend() {
        let (group, ownModes) = state.withLock { state in
            state.isSuspended = true
            return (state.group, state.ownModes)
        }
        guard let group, tcgetpgrp(input.rawValue) == group else { return }
        let modes = modes
        state.withLock { $0.modesOfCommand = modes }
        withoutStop {
            tcsetpgrp(input.rawValue, getpgrp())
            if var ownModes { tcsetattr(input.rawValue, TCSADRAIN, &ownModes) }
        }
    }

    /// Gives the terminal to the running command, if this process has it. Call this method after this process was continued.
    public func giveAgain() {
        let (group, modesOfCommand) = state.withLock { ($0.group, $0.modesOfCommand) }
        guard let group, isInForeground else { return }
        let modes = modes
        state.withLock { $0.ownModes = $0.ownModes ?? modes }
        withoutStop {
            if var modesOfCommand { tcsetattr(input.rawValue, TCSADRAIN, &modesOfCommand) }
            tcsetpgrp(input.rawValue, group)
        }
    }

    /// Ends the time in which stops are no news. Call this method after the commands were continued.
    public func resumed() { state.withLock { $0.isSuspended = false } }

    private var isInForeground: Bool { tcgetpgrp(input.rawValue) == getpgrp() }

    private var modes: termios? {
        var modes = termios()
        return tcgetattr(input.rawValue, &modes) == 0 ? modes : nil
    }

    /// Calls `body` on a thread that the system does not stop for a change of the terminal from the background.
    private func withoutStop(_ body: () -> Void) {
        var (set, old) = (sigset_t(), sigset_t())
        sigemptyset(&set)
        sigaddset(&set, SIGTTOU)
        pthread_sigmask(SIG_BLOCK, &set, &old)
        body()
        pthread_sigmask(SIG_SETMASK, &old, nil)
    }

    private static func exists(_ group: pid_t) -> Bool { Glibc.kill(-group, 0) == 0 || errno == EPERM }

    /// Whether a process is stopped now.
    private static func isStopped(_ identifier: pid_t) -> Bool {
        guard let stream = fopen("/proc/\(identifier)/stat", "re") else { return false }
        defer { fclose(stream) }
        var bytes = [UInt8](repeating: 0, count: 512)
        let count = fread(&bytes, 1, bytes.count, stream)
        // The name of the program may contain any characters, and is in parentheses.
        guard let end = bytes.prefix(count).lastIndex(of: UInt8(ascii: ")")), end + 2 < count else { return false }
        return bytes[end + 2] == UInt8(ascii: "T")
    }
}
