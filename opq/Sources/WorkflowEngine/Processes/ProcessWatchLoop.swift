import Glibc
import SystemPackage

/// The loop of the thread of a `ProcessWatch`. Only that thread uses the object.
final class ProcessWatchLoop {
    private typealias Instant = ContinuousClock.Instant

    private struct Child {
        let process: CommandProcess
        let handler: ProcessWatch.Handler
        var life = ProcessLife(grace: ProcessGroup.grace)
        var hasLeader = true
        var isReaped = false

        var group: ProcessGroup { ProcessGroup(identifier: process.identifier) }

        /// Whether the identifier still belongs to the group, because the leader is not reaped or a process remains.
        var hasSignalTarget: Bool { !isReaped || group.isAlive }
    }

    /// The interval between checks of a process without a descriptor.
    private static let pollPause = Duration.milliseconds(20)
    /// The interval between attempts to start commands that wait for a short resource, while no command of this run ends.
    private static let attemptPause = Duration.milliseconds(100)

    /// The longest wait in milliseconds. A stop of the process during a longer wait would use up the deadlines after it.
    private static let longestWait = 250.0

    private let watch: ProcessWatch
    private let patience: Duration
    private let clock = ContinuousClock()
    private var time = RunningTime()
    private var children: [ProcessWatch.Token: Child] = [:]
    private var attempts: [ProcessWatch.Attempt] = []
    /// The instant since which commands wait for a short resource while no command runs.
    private var shortSince: Instant?
    private var nextAttempt: Instant?
    private var isStopped = false

    /// Creates the loop of a watch.
    init(_ watch: ProcessWatch, patience: Duration) {
        self.watch = watch
        self.patience = patience
    }

    /// The current running time, in which deadlines are measured.
    private var now: Instant { time.read(at: clock.now) }

    /// Runs until the watch is stopped and all commands have ended.
    func run() {
        while !isStopped || !children.isEmpty {
            let ended = wait()
            for message in watch.takeMessages() { act(on: message) }
            notice(ended)
            let now = now
            for token in children.keys.filter({ isDue($0, at: now) }) {
                if let action = children[token]?.life.timePassed(at: now) { perform([action], for: token) }
            }
            tryAgain()
        }
    }

    private func isDue(_ token: ProcessWatch.Token, at now: Instant) -> Bool {
        children[token]?.life.nextInstant.map { $0 <= now } ?? false
    }

    // MARK: - Waiting

    /// Waits for messages, for the end of a leader, or for the next instant of an action.
    ///
    /// - Returns: The children whose leaders may have ended.
    private func wait() -> [ProcessWatch.Token] {
        var descriptors = [pollfd(fd: watch.wakeDescriptor, events: Int16(POLLIN), revents: 0)]
        var tokens: [ProcessWatch.Token] = []
        var polled: [ProcessWatch.Token] = []
        var instant = nextAttempt
        for (token, child) in children {
            if let next = child.life.nextInstant { instant = min(next, instant ?? next) }
            guard child.hasLeader else { continue }
            if let descriptor = child.process.descriptor {
                descriptors.append(pollfd(fd: descriptor.rawValue, events: Int16(POLLIN), revents: 0))
                tokens.append(token)
            } else {
                polled.append(token)
            }
        }
        if !polled.isEmpty { instant = min(now + Self.pollPause, instant ?? now + Self.pollPause) }
        let timeout = time.isStopped ? -1 : instant.map { self.timeout(until: $0) } ?? -1
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
        time.read(at: clock.now, afterWaitOf: timeout >= 0 ? .milliseconds(timeout) : nil)
        guard count > 0 else { return polled }
        return polled + zip(tokens, descriptors.dropFirst()).filter { $1.revents != 0 }.map(\.0)
    }

    /// Returns the time until `instant` in milliseconds, rounded up. A value rounded down to 0 would make the loop spin.
    private func timeout(until instant: Instant) -> Int32 {
        let milliseconds = (instant - now) / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Self.longestWait))
    }

    // MARK: - Acting

    private func act(on message: ProcessWatch.Message) {
        switch message {
        case .watch(let process, let token, let handler):
            children[token] = Child(process: process, handler: handler)
            // A process without a descriptor may already have ended, and has no event that would wake the loop.
            if process.descriptor == nil { notice([token]) }
        case .cancel(let token):
            if let action = children[token]?.life.cancel(at: now) { perform([action], for: token) }
        case .kill(let token):
            if let action = children[token]?.life.kill(at: now) { perform([action], for: token) }
        case .pause(let done):
            signalAll(SIGSTOP)
            time.stop(at: clock.now)
            done()
        case .resume(let done):
            time.resume(at: clock.now)
            signalAll(SIGCONT)
            done()
        case .attempt(let attempt):
            attempts.append(attempt)
            nextAttempt = nextAttempt ?? now + Self.attemptPause
        case .attemptNow:
            nextAttempt = attempts.isEmpty ? nil : now
        case .stop:
            isStopped = true
        }
    }

    private func notice(_ tokens: [ProcessWatch.Token]) {
        for token in tokens {
            guard let child = children[token], child.hasLeader, let end = child.process.end() else { continue }
            children[token]?.hasLeader = false
            if let actions = children[token]?.life.leaderEnded(end, at: now) { perform(actions, for: token) }
        }
    }

    private func perform(_ actions: [ProcessLife.Action], for token: ProcessWatch.Token) {
        var actions = actions[...]
        while let action = actions.popFirst(), let child = children[token] {
            switch action {
            case .terminate:
                // A stopped process handles `SIGTERM` only after `SIGCONT`.
                if child.group.send(SIGTERM) { child.group.send(SIGCONT) }
            case .kill:
                if child.hasSignalTarget { child.group.kill() }
            case .reap:
                child.process.reap()
                children[token]?.isReaped = true
            case .look:
                let isAlive = child.group.isAlive
                actions += children[token]?.life.looked(isAlive: isAlive, at: now) ?? []
            case .finish(let end):
                children[token] = nil
                child.handler(end)
                if !attempts.isEmpty { nextAttempt = now }
            }
        }
    }

    private func signalAll(_ signal: Int32) {
        for child in children.values where child.hasSignalTarget { child.group.send(signal) }
    }

    // MARK: - Trying again

    /// Tries to start the commands that wait for a short resource, in the order of their arrival.
    private func tryAgain() {
        guard let next = nextAttempt, next <= now else { return }
        while let first = attempts.first {
            let isLast = children.isEmpty && shortSince.map { now - $0 >= patience } ?? false
            guard first(isLast) else { break }
            attempts.removeFirst()
            for message in watch.takeMessages() { act(on: message) }
        }
        if attempts.isEmpty || !children.isEmpty { shortSince = nil } else { shortSince = shortSince ?? now }
        nextAttempt = attempts.isEmpty ? nil : now + Self.attemptPause
    }
}
