import Glibc
import Synchronization
import WorkflowEngine

/// Acts on the signals by which a user ends or stops this process.
///
/// The first `SIGINT`, `SIGTERM` or `SIGHUP` cancels the run, the second kills it, and a third ends the process at once.
/// `SIGQUIT` kills the run. `SIGTSTP` stops the commands, then this process. A signal that was ignored stays ignored.
///
/// One thread waits for them all, and does nothing else: no lock and no full pipe keeps it from a signal.
final class Interruption: Sendable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let run: WorkflowRun
    /// Says that the run is being cancelled. Not called by the thread of the signals.
    private let announce: @Sendable () -> Void
    private let count = Atomic<Int>(0)

    /// Whether there was a signal that ends the run.
    var hasHappened: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

    /// Keeps the signals for the thread that waits for them. Call it before there is another thread: new ones inherit it.
    static func block() {
        var set = handled
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// The ``signals`` that this process did not inherit as ignored.
    private static var handled: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals where !isIgnored(signal) { sigaddset(&set, signal) }
        return set
    }

    /// Acts on signals from now on.
    ///
    /// - Throws: `RunFailure` if there is no thread for it.
    init(of run: WorkflowRun, announce: @escaping @Sendable () -> Void) throws {
        self.run = run
        self.announce = announce
        guard startThread(named: "opq-signals", { self.wait() }) else { throw RunFailure.noThread }
    }

    private func wait() {
        var set = Self.handled
        while true {
            var signal: Int32 = 0
            guard sigwait(&set, &signal) == 0 else { continue }
            if signal == SIGTSTP {
                stop()
                continue
            }
            let number = count.add(1, ordering: .sequentiallyConsistent).newValue
            if number > 2 { takeDefault(of: signal) }
            if number == 2 || signal == SIGQUIT {
                run.kill()
            } else {
                announce()
                run.cancel()
            }
        }
    }

    /// Stops the commands and this process until it is continued.
    private func stop() {
        run.pause()
        // The default action, so that the system decides whether anybody is there to continue this process.
        takeDefault(of: SIGTSTP)
        Interruption.block()
        run.resume()
    }

    private func takeDefault(of number: Int32) {
        signal(number, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, number)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        raise(number)
    }
}
