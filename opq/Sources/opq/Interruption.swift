import Glibc
import Synchronization
import WorkflowEngine

/// A handler of the signals with which a user ends or stops this process. `SignalPolicy` decides the reactions.
///
/// A signal that was ignored at the start stays ignored. One thread waits for all signals and does nothing else, so no lock
/// and no full pipe delays the handling of a signal.
final class Interruption: Sendable {
    private let run: WorkflowRun
    private let terminal: TerminalHandover
    /// A function that announces the cancellation. The thread of the signals calls it, so it must not block.
    private let announce: @Sendable () -> Void
    /// A function that draws the terminal again. The argument is whether this process was continued after a stop.
    private let redraw: @Sendable (_ isContinued: Bool) -> Void
    private let received = Atomic<Int32>(0)
    /// Signals that change the terminal. Both are ignored by default, so they arrive only because they are blocked.
    private static let terminalSignals = [SIGWINCH, SIGCONT]

    /// The first signal that ended the run. `nil` if none has arrived.
    var signal: Int32? {
        let signal = received.load(ordering: .sequentiallyConsistent)
        return signal == 0 ? nil : signal
    }

    /// Blocks the signals in the calling thread. Call this method before another thread starts, because new threads inherit
    /// the signal mask.
    static func block() {
        var set = handled
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// The signals of the policy that this process did not inherit as ignored.
    private static var handled: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in SignalPolicy.signals + terminalSignals where !isIgnored(signal) { sigaddset(&set, signal) }
        return set
    }

    /// Starts the thread that handles the signals.
    ///
    /// - Throws: `RunFailure` if the system can start no thread.
    init(
        of run: WorkflowRun, terminal: TerminalHandover, announce: @escaping @Sendable () -> Void,
        redraw: @escaping @Sendable (_ isContinued: Bool) -> Void
    ) throws {
        (self.run, self.terminal) = (run, terminal)
        self.announce = announce
        self.redraw = redraw
        guard startThread(named: "opq-signals", { self.wait() }) else { throw RunFailure.noThread }
    }

    private func wait() {
        var set = Self.handled
        var policy = SignalPolicy()
        while true {
            var signal: Int32 = 0
            guard sigwait(&set, &signal) == 0 else { continue }
            if Self.terminalSignals.contains(signal) {
                // A shell has brought this process to the foreground without a stop before.
                if signal == SIGCONT { terminal.giveAgain() }
                redraw(signal == SIGCONT)
                continue
            }
            let reaction = policy.receive(signal, at: .now)
            received.store(policy.first ?? 0, ordering: .sequentiallyConsistent)
            switch reaction {
            case .cancel(let signal):
                announce()
                run.cancel(by: signal)
            case .kill: run.kill()
            case .end(let signal): endProcess(by: signal)
            case .stop: stop()
            case .ignore: break
            }
        }
    }

    /// Stops the commands and this process until it is continued.
    private func stop() {
        run.pause()
        terminal.suspend()
        // The system's default action decides whether a shell can continue this process.
        takeDefault(of: SIGTSTP)
        Interruption.block()
        terminal.giveAgain()
        redraw(true)
        run.resume()
        terminal.resumed()
    }
}

/// Ends this process by a signal, so that a shell or a supervisor sees the signal. A shell ends a loop only if the signal
/// ended the program.
func endProcess(by signal: Int32) -> Never {
    // SIGQUIT would write the memory of this process to a file.
    var none = rlimit()
    if getrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none) == 0 {
        none.rlim_cur = 0
        setrlimit(__rlimit_resource_t(RLIMIT_CORE.rawValue), &none)
    }
    takeDefault(of: signal)
    // The system does not end the first process of a container by its own signal.
    exit(128 + signal)
}

private func takeDefault(of number: Int32) {
    signal(number, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    sigaddset(&set, number)
    pthread_sigmask(SIG_UNBLOCK, &set, nil)
    raise(number)
}
