import Glibc

/// The decisions about the signals with which a user or a supervisor ends a run.
public struct SignalPolicy: Sendable {
    /// A reaction to a signal.
    public enum Reaction: Equatable, Sendable {
        /// Start nothing more, and send the signal to the running commands.
        case cancel(by: Int32)
        /// Kill the running commands.
        case kill
        /// End this process at once by the signal.
        case end(by: Int32)
        /// Stop the commands and then this process.
        case stop
        /// Do nothing.
        case ignore
    }

    /// The time in which two equal signals count as one. GNU `timeout` sends its signal to the process and then to the group
    /// of the process, and GNU `parallel` sends `SIGTERM` twice with a pause of 0.2 seconds.
    public static let repetition = Duration.milliseconds(300)

    /// The signals that the policy knows.
    public static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP] + others

    /// Other signals that end a process without a handler. Commands get SIGTERM for them, because these signals mean something
    /// else to many programs.
    static let others = [SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGPWR]

    private var count = 0
    private var last: (signal: Int32, instant: ContinuousClock.Instant)?

    /// The first signal that ended the run. `nil` if none has arrived.
    public private(set) var first: Int32?

    /// Creates a policy for a run that received no signal.
    public init() {}

    /// Returns the reaction to a signal.
    public mutating func receive(_ signal: Int32, at now: ContinuousClock.Instant) -> Reaction {
        if signal == SIGTSTP { return .stop }
        if let last, last.signal == signal, now - last.instant < Self.repetition { return .ignore }
        last = (signal, now)
        first = first ?? signal
        count += 1
        if count > 2 { return .end(by: signal) }
        return count == 2 || signal == SIGQUIT ? .kill : .cancel(by: Self.others.contains(signal) ? SIGTERM : signal)
    }
}
