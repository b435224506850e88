import Glibc
import Synchronization
import WorkflowEngine

/// A handler of the signals with which a user ends or stops this process.
///
/// The first `SIGINT`, `SIGTERM` or `SIGHUP` cancels the run. The second kills the commands, and the third ends the process
/// at once. `SIGQUIT` kills the commands. `SIGTSTP` stops the commands and then this process. A signal that was ignored at
/// the start stays ignored.
///
/// One thread waits for all signals and does nothing else, so no lock and no full pipe delays the handling of a signal.
final class Interruption: Sendable {
    private static let signals = [SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP]

    private let run: WorkflowRun
    /// A function that announces the cancellation. The thread of the signals calls it, so it must not block.
    private let announce: @Sendable () -> Void
    private let count = Atomic<Int>(0)

    /// Whether a signal that ends the run has arrived.
    var hasHappened: Bool { count.load(ordering: .sequentiallyConsistent) > 0 }

    /// Blocks the signals in the calling thread. Call this method before another thread starts, because new threads inherit
    /// the signal mask.
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

    /// Starts the thread that handles the signals.
    ///
    /// - Throws: `RunFailure` if the system can start no thread.
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
        // The system's default action decides whether a shell can continue this process.
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
