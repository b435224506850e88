import Glibc
import SystemPackage

/// What the thread of a `ProcessWatch` does. Used by that thread alone.
final class ProcessWatchLoop {
    private typealias Instant = ContinuousClock.Instant

    private struct Child {
        let process: CommandProcess
        let handler: ProcessWatch.Handler
        var life = ProcessLife(grace: ProcessGroup.grace)
        var hasLeader = true
        var isReaped = false

        var group: ProcessGroup { ProcessGroup(identifier: process.identifier) }

        /// Whether the identifier is still that of the group: of the unreaped leader, or of a process that is left.
        var hasSignalTarget: Bool { !isReaped || group.isAlive }
    }

    /// How often a process without a descriptor is asked for its end.
    private static let pollPause = Duration.milliseconds(20)
    /// How often what was short is tried again while nothing of this run ends.
    private static let attemptPause = Duration.milliseconds(100)

    /// In milliseconds: a stop during a longer wait would use up the deadline behind it.
    private static let longestWait = 250.0

    private let watch: ProcessWatch
    private let patience: Duration
    private let clock = ContinuousClock()
    private var time = RunningTime()
    private var children: [ProcessWatch.Token: Child] = [:]
    private var attempts: [ProcessWatch.Attempt] = []
    /// Since when commands wait for something that is short, with none running.
    private var shortSince: Instant?
    private var nextAttempt: Instant?
    private var isStopped = false

    /// The loop of a watch.
    init(_ watch: ProcessWatch, patience: Duration) {
        self.watch = watch
        self.patience = patience
    }

    /// The instant by which deadlines are measured.
    private var now: Instant { time.time(at: clock.now) }

    /// Runs until it is asked to stop, and nothing is left to be watched.
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

    /// Waits for messages, for the end of a leader, and for the next instant at which something is to be done.
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
        let start = clock.now
        let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
        if timeout >= 0 { time.passed(from: start, to: clock.now, atMost: .milliseconds(timeout)) }
        guard count > 0 else { return polled }
        return polled + zip(tokens, descriptors.dropFirst()).filter { $1.revents != 0 }.map(\.0)
    }

    /// In milliseconds, rounded up: rounded down it would wait for nothing again and again.
    private func timeout(until instant: Instant) -> Int32 {
        let milliseconds = (instant - now) / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Self.longestWait))
    }

    // MARK: - Acting

    private func act(on message: ProcessWatch.Message) {
        switch message {
        case .watch(let process, let token, let handler):
            children[token] = Child(process: process, handler: handler)
            // Without a descriptor, and with one whose process ended before it was made, the first look is now.
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
                // A stopped process takes no other signal than this one and the last.
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

    /// Starts what waits for something that was short, in the order in which it came, as far as that is to be had now.
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
