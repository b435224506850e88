import Dispatch
import Synchronization

/// An executor that hands commands to Slurm, and a thread that asks Slurm for all of them at once.
///
/// opq decides all dependencies. Slurm forgets a job some minutes after its end, and then counts each dependency on it as met, also
/// one on a failed job.
final class SlurmExecutor: CommandExecutor {
    private let watch: ProcessWatch
    private let inbox = Mutex<[SlurmLoop.Message?]>([])
    private let wake = DispatchSemaphore(value: 0)
    private let ended = DispatchSemaphore(value: 0)

    /// Starts the thread.
    ///
    /// - Throws: `RunFailure` if the system can start no thread.
    init(_ loop: SlurmLoop, _ watch: ProcessWatch) throws(RunFailure) {
        self.watch = watch
        guard startThread(named: "opq-slurm", { self.run(loop) }) else { throw .noThread }
    }

    func start(_ command: ExecutedCommand) throws { send(.start(command)) }

    func end(_ token: ProcessWatch.Token, by signal: Int32) {
        // The watch has the pause before a retry.
        watch.end(token, by: signal)
        send(.end(token))
    }

    func kill(_ token: ProcessWatch.Token) {
        watch.kill(token)
        send(.kill(token))
    }

    /// Ends the thread. No command may be running.
    func stop() {
        send(nil)
        ended.wait()
    }

    /// Hands over a message. `nil` ends the thread.
    private func send(_ message: SlurmLoop.Message?) {
        inbox.withLock { $0.append(message) }
        wake.signal()
    }

    private func takeMessages() -> [SlurmLoop.Message?] {
        inbox.withLock { inbox in
            defer { inbox = [] }
            return inbox
        }
    }

    private func run(_ start: SlurmLoop) {
        var loop = start
        var isStopped = false
        func act(_ messages: [SlurmLoop.Message?]) {
            loop.act(on: messages.compactMap(\.self))
            isStopped = isStopped || messages.contains { $0 == nil }
        }
        while !isStopped {
            if let time = loop.timeToNextLook { _ = wake.wait(timeout: .now() + time.dispatch) } else { wake.wait() }
            act(takeMessages())
            // Members of a family become ready one after another.
            let first = ContinuousClock.now
            while let last = loop.lastNew, let pause = SlurmGathering.pause(last, after: .now - first),
                wake.wait(timeout: .now() + pause.dispatch) == .success
            {
                act(takeMessages())
            }
            loop.submitNew()
            loop.lookIfDue()
        }
        loop.endLeft()
        ended.signal()
    }
}

extension Duration {
    fileprivate var dispatch: DispatchTimeInterval { .milliseconds(Int((self / .milliseconds(1)).rounded(.up))) }
}
