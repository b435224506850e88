import CProcess
import Glibc
import Synchronization
import SystemPackage

/// The loop of the thread of a `ProcessWatch`. Only that thread uses the object.
final class ProcessWatchLoop {
    typealias Instant = ContinuousClock.Instant

    struct Child {
        var command: ProcessWatch.Watched
        var life: ProcessLife
        var hasLeader = true
        var isReaped = false
        /// Whether the system reports no events of the command.
        var isPolled = false

        var group: ProcessGroup { ProcessGroup(identifier: command.process.identifier) }
    }

    /// An action at a later time.
    private struct Wait {
        let token: ProcessWatch.Token
        let end: Instant
        let action: @Sendable () -> Void
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
    private var pipes = OutputReader()
    private var orphans: OrphanWatch?
    private var attempts: [ProcessWatch.Attempt] = []
    private var waits: [Wait] = []
    /// The instant since which commands wait for a short resource while no command runs.
    private var shortSince: Instant?
    private var nextAttempt: Instant?
    private var isStopped = false
    private var isWoken = false
    /// The processes of the system, read at most once in each round of the loop.
    private var table: ProcessTable?

    /// Creates the loop of a watch.
    init(_ watch: ProcessWatch, patience: Duration, adoptsOrphans: Bool) {
        self.watch = watch
        self.patience = patience
        if adoptsOrphans { orphans = OrphanWatch(watch) }
    }

    /// The current running time, in which deadlines are measured.
    private var now: Instant { time.read(at: clock.now) }

    /// Runs until the watch is stopped and all commands have ended.
    func run() {
        while !isStopped || !children.isEmpty {
            let ended = wait()
            for message in watch.takeMessages(isWoken: isWoken) { act(on: message) }
            notice(ended)
            let now = now
            for token in children.keys.filter({ isDue($0, at: now) }) {
                if let action = children[token]?.life.timePassed(at: now) { perform([action], for: token) }
            }
            for wait in waits where wait.end <= now { wait.action() }
            waits.removeAll { $0.end <= now }
            orphans?.timePassed(at: now) { currentTable }
            tryAgain()
        }
        pipes.closeAll()
    }

    private func isDue(_ token: ProcessWatch.Token, at now: Instant) -> Bool {
        children[token]?.life.nextInstant.map { $0 <= now } ?? false
    }

    private var currentTable: ProcessTable {
        if let table { return table }
        let current = ProcessTable()
        table = current
        return current
    }

    // MARK: - Waiting

    /// Waits for messages, for events of commands, or for the next instant of an action. Reads output.
    ///
    /// - Returns: The commands whose leaders may have ended.
    private func wait() -> [ProcessWatch.Token] {
        isWoken = false
        let now = now
        var instants = waits.map(\.end) + [nextAttempt, orphans?.nextInstant].compactMap(\.self)
        instants += children.values.compactMap(\.life.nextInstant)
        let polled = children.filter(\.value.isPolled).map(\.key)
        if !polled.isEmpty { instants.append(now + Self.pollPause) }
        let timeout = time.isStopped ? -1 : instants.min().map { self.timeout(until: $0) } ?? -1
        let events = pipes.wait(in: watch.events, timeout: timeout)
        time.read(at: clock.now, afterWaitOf: timeout >= 0 ? .milliseconds(timeout) : nil)
        table = nil
        // The command of an event may have been sent a moment ago.
        var ended: [ProcessWatch.Token] = []
        var hasTaken = false
        for event in events {
            guard let tag = EventTag(value: event.tag) else {
                isWoken = true
                continue
            }
            if tag == .tokens {
                if !attempts.isEmpty { nextAttempt = now }
                continue
            }
            if children[tag.token] == nil, tag.kind != .rest, !hasTaken {
                hasTaken = true
                for message in watch.takeMessages(isWoken: false) { act(on: message) }
            }
            switch tag.kind {
            case .end: ended.append(tag.token)
            case .output, .capture:
                readOutput(tag.kind, of: tag.token, isReadable: event.is_readable, isAtEnd: event.is_at_end)
            case .rest: pipes.discardRest(of: tag.token, in: watch.events, isReadable: event.is_readable)
            }
        }
        for token in polled {
            for kind in [EventTag.Kind.output, .capture] {
                let pipe = kind == .output ? children[token]?.command.pipe : children[token]?.command.capturePipe
                let count = pipe.map { cprocess_available($0.rawValue) } ?? 0
                readOutput(kind, of: token, isReadable: count > 0, isAtEnd: false)
            }
        }
        return ended + polled
    }

    /// Returns the time until `instant` in milliseconds, rounded up. A value rounded down to 0 would make the loop spin.
    private func timeout(until instant: Instant) -> Int32 {
        let milliseconds = (instant - now) / .milliseconds(1)
        return Int32(min(max(milliseconds.rounded(.up), 0), Self.longestWait))
    }

    private func readOutput(_ kind: EventTag.Kind, of token: ProcessWatch.Token, isReadable: Bool, isAtEnd: Bool) {
        guard let command = children[token]?.command,
            let pipe = kind == .output ? command.pipe : command.capturePipe
        else { return }
        let sink: (any OutputSink)? = kind == .output ? command.spool : command.capture
        guard
            pipes.read(
                from: pipe, of: token, as: kind, into: sink, in: watch.events, isReadable: isReadable, isAtEnd: isAtEnd)
        else { return }
        if kind == .output { children[token]?.command.pipe = nil } else { children[token]?.command.capturePipe = nil }
    }

    // MARK: - Acting

    private func act(on message: ProcessWatch.Message) {
        switch message {
        case .watch(let command, let token):
            let limit = command.limit.map { now + $0 }
            children[token] = Child(command: command, life: ProcessLife(grace: command.grace, limit: limit))
        case .poll(let token):
            children[token]?.isPolled = true
            notice([token])
        case .end(let token, let signal):
            if let action = children[token]?.life.stop(by: signal, at: now) { perform([action], for: token) }
            endWait(of: token)
        case .kill(let token):
            if let action = children[token]?.life.kill(at: now) { perform([action], for: token) }
            endWait(of: token)
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
        case .wait(let token, let time, let action):
            waits.append(Wait(token: token, end: now + time, action: action))
        case .endOrphans(let signal):
            orphans?.end(by: signal, at: now) { currentTable }
        case .awaitOrphans(let done):
            if orphans == nil { done() } else { orphans?.wait(at: now, done) }
        case .stop:
            isStopped = true
        }
    }

    private func endWait(of token: ProcessWatch.Token) {
        for wait in waits where wait.token == token { wait.action() }
        waits.removeAll { $0.token == token }
    }

    private func notice(_ tokens: [ProcessWatch.Token]) {
        for token in tokens {
            guard let child = children[token], child.hasLeader, !child.isPolled || child.command.process.hasEnded else {
                continue
            }
            children[token]?.hasLeader = false
            if let actions = children[token]?.life.leaderEnded(at: now) { perform(actions, for: token) }
        }
    }

    private func perform(_ actions: [ProcessLife.Action], for token: ProcessWatch.Token) {
        var actions = actions[...]
        while let action = actions.popFirst(), let child = children[token] {
            switch action {
            case .signal(let signal):
                child.group.sendToSession(signal, currentTable)
            case .endGroup:
                child.group.send(SIGTERM)
            case .kill:
                if child.isReaped, !isAlive(child) { break }
                if child.life.isStopped { child.group.sendToSession(SIGKILL, currentTable) } else { child.group.kill() }
            case .reap:
                watch.leaders.withLock { _ = $0.remove(child.command.process.identifier) }
                let end = child.command.process.reap()
                children[token]?.life.reaped(end)
                children[token]?.isReaped = true
            case .look:
                let isAlive = isAlive(child)
                // A stopped process handles `SIGTERM` only after `SIGCONT`.
                if isAlive { child.group.send(SIGCONT) }
                actions += children[token]?.life.looked(isAlive: isAlive, at: now) ?? []
            case .finish:
                children[token] = nil
                if let pipe = child.command.pipe {
                    pipes.finish(pipe, of: token, into: child.command.spool, in: watch.events)
                }
                if let pipe = child.command.capturePipe {
                    pipes.finish(pipe, of: token, into: child.command.capture, in: watch.events)
                }
                child.command.spool?.finish()
                child.command.handler(CommandEnd(end: child.life.end, hasTimedOut: child.life.hasTimedOut))
                if !attempts.isEmpty { nextAttempt = now }
            }
        }
    }

    private func isAlive(_ child: Child) -> Bool {
        child.group.isAlive(inSession: child.life.isStopped) { currentTable }
    }

    private func signalAll(_ signal: Int32) {
        for child in children.values where !child.isReaped || isAlive(child) { child.group.send(signal) }
    }

    // MARK: - Trying again

    /// Tries to start the commands that wait for a short resource, in the order of their arrival.
    private func tryAgain() {
        guard let next = nextAttempt, next <= now else { return }
        while let first = attempts.first {
            let isLast = children.isEmpty && shortSince.map { now - $0 >= patience } ?? false
            guard first(isLast) else { break }
            attempts.removeFirst()
            for message in watch.takeMessages(isWoken: false) { act(on: message) }
        }
        if attempts.isEmpty || !children.isEmpty { shortSince = nil } else { shortSince = shortSince ?? now }
        nextAttempt = attempts.isEmpty ? nil : now + Self.attemptPause
    }
}
