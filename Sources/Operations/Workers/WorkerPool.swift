import Synchronization
import SchedulerCore

/// The threads of one service level.
///
/// A source asks for one worker at a time. It gets one at once while fewer of its urgency work, not counting the blocked,
/// than there are cores (for eager sources: than `eagerLimit`). Otherwise the request waits, until a worker has nothing left
/// to do, waits inside the system, or is seen by the `Monitor` to be blocked. A worker without work sleeps, and its thread
/// ends after `idleSeconds`.
final class WorkerPool: Sendable {
    /// The most threads that work for the sources of one urgency, blocked ones included. Well above what one source may
    /// have: operations of several may wait for one another.
    static let ceiling = 4096
    /// Up to here sources that ask for their width get threads without delay.
    static let eagerLimit = 64
    /// After so long without work a thread ends.
    static let idleSeconds = Atomic<UInt64>(5)
    /// A worker yields to waiting sources after so many nanoseconds.
    static let quantum: UInt64 = 2_000_000

    private static let all = ServiceLevel.allCases.map { WorkerPool(level: $0) }

    static subscript(level: ServiceLevel) -> WorkerPool { all[level.rawValue] }
    static var pools: [WorkerPool] { all }

    let level: ServiceLevel
    private let state = Locked(State())
    /// The number of requests that wait, for a look without the lock.
    private let waiting = Atomic<Int>(0)

    private init(level: ServiceLevel) { self.level = level }

    struct State {
        var idle: [Worker] = []
        var busy: [ObjectIdentifier: Worker] = [:]
        var requests = WaitingRequests()
        /// The workers of the sources of each urgency. They do not wait for one another: a serial queue that computes for ever
        /// takes no core from the queues of default width, and time goes on while both compute.
        private var shared = Load()
        private var eager = Load()
        private var prompt = Load()
        /// How many more may work for shared sources because all workers were seen to be blocked; see `Monitor`.
        var allowance = 0
        /// How many more may work for prompt sources because those that do are slow; see `Monitor`.
        var promptAllowance = 0
        /// How many prompt sources have been served; tells whether those that wait make headway.
        var promptServed = 0
        /// The same at the last look.
        var promptServedBefore = 0

        subscript(urgency: Urgency) -> Load {
            get {
                switch urgency {
                case .shared: shared
                case .eager: eager
                case .prompt: prompt
                }
            }
            set {
                switch urgency {
                case .shared: shared = newValue
                case .eager: eager = newValue
                case .prompt: prompt = newValue
                }
            }
        }
    }

    struct Load {
        var busy = 0
        /// Of the busy, those that wait inside the system or were seen to be blocked.
        var blocked = 0
        var active: Int { busy - blocked }
    }

    /// A source that wants one worker. What is asked of the source is asked before the lock is taken.
    struct Request {
        let source: any WorkSource
        let urgency: Urgency

        init(_ source: any WorkSource) {
            self.source = source
            urgency = source.urgency
        }
    }

    /// What the pool knows about one worker. Guarded by the pool's lock.
    struct Census {
        var clock: ThreadClock?
        var source: (any WorkSource)?
        var urgency = Urgency.shared
        var since: UInt64 = 0
        var isWaiting = false
        var isSeenBlocked = false
        var isBlocked: Bool { isWaiting || isSeenBlocked }
        var lastUsed: UInt64 = 0
        var lastDone: UInt = 0
        var hadDebt = false
    }

    // MARK: - Requests

    /// Asks for one worker for a source.
    func request(_ source: any WorkSource) {
        let request = Request(source)
        let grant = state.withLock { state in
            let grant = state.grant(request, in: self)
            if case .wait = grant { state.requests.append(request) }
            waiting.store(state.requests.count, ordering: .relaxed)
            return grant
        }
        _ = act(on: grant, for: request)
    }

    enum Grant {
        case wake(Worker)
        case spawn(Worker)
        case wait
    }

    private func act(on grant: Grant, for request: Request) -> Bool {
        switch grant {
        case .wake(let worker): worker.parker.unpark()
        case .spawn(let worker): return Monitor.shared.takesOver(worker, request) || spawn(worker, for: request)
        case .wait: Monitor.shared.wakeIfAsleep()
        }
        return true
    }

    /// Answers false when the system refuses another thread: then the request waits, for one of those there are or for
    /// the monitor's next try.
    func spawn(_ worker: Worker, for request: Request) -> Bool {
        if worker.spawn(first: request.source) { return true }
        state.withLock { state in
            _ = state.end(worker)
            state.requests.append(request)
            waiting.store(state.requests.count, ordering: .relaxed)
        }
        Monitor.shared.wakeIfAsleep()
        return false
    }

    /// Gives workers to the requests that may have one now.
    private func grantWaiting() {
        while true {
            let next: (Grant, Request)? = state.withLock { state in
                guard let request = state.takeRequest() else { return nil }
                let grant = state.grant(request, in: self)
                if case .wait = grant { state.requests.append(request) }
                waiting.store(state.requests.count, ordering: .relaxed)
                return (grant, request)
            }
            guard let (grant, request) = next else { return }
            guard act(on: grant, for: request) else { return }
            if case .wait = grant { return }
        }
    }

    // MARK: - Workers

    func workerBegan(_ worker: Worker, clock: ThreadClock) {
        state.withLock { _ in worker.census.clock = clock }
    }

    /// The worker's next source; sleeps until there is one, and answers nil when it should end.
    func nextSource(for worker: Worker) -> (any WorkSource)? {
        if let found = takeSource(for: worker) { return found }
        return sleep(worker)
    }

    /// The finished source is gone when this has returned, before the worker sleeps.
    private func takeSource(for worker: Worker) -> (any WorkSource)? {
        let (found, finished): ((any WorkSource)?, (any WorkSource)?) = state.withLock { state in
            let finished = state.end(worker)
            guard let request = state.takeRequest() else {
                state.idle.append(worker)
                return (nil, finished)
            }
            waiting.store(state.requests.count, ordering: .relaxed)
            state.begin(worker, request)
            return (request.source, finished)
        }
        withExtendedLifetime(finished) {}
        return found
    }

    private func sleep(_ worker: Worker) -> (any WorkSource)? {
        while true {
            let isWoken = worker.parker.park(nanoseconds: Self.idleSeconds.load(ordering: .relaxed) * 1_000_000_000)
            let outcome: (source: (any WorkSource)?, ends: Bool) = state.withLock { state in
                if let source = worker.census.source { return (source, false) }
                guard !isWoken, let index = state.idle.firstIndex(where: { $0 === worker }) else { return (nil, false) }
                state.idle.remove(at: index)
                return (nil, true)
            }
            if outcome.source != nil || outcome.ends { return outcome.source }
        }
    }

    /// The worker waits inside the system, and needs no core meanwhile.
    func workerBlocks(_ worker: Worker) {
        state.withLock { $0.mark(worker, \.isWaiting, true) }
        if waiting.load(ordering: .relaxed) > 0 { grantWaiting() }
    }

    func workerGoesOn(_ worker: Worker) { state.withLock { $0.mark(worker, \.isWaiting, false) } }

    /// Sources other than the asking one, whose own request may be among them, wait for a worker.
    func othersWait(besides own: Bool) -> Bool { waiting.load(ordering: .relaxed) > (own ? 1 : 0) }

    func quantumIsOver(of worker: Worker) -> Bool {
        let now = MonotonicClock.now
        return state.withLock { _ in now - worker.census.since > Self.quantum }
    }

    // MARK: - Monitoring

    /// What one look has shown.
    struct Findings {
        /// Those whose workers have not kept their promise to look.
        var debtors: [any WorkSource] = []
        /// There is something to look at again.
        var isWorthwhile = false
        /// It should be soon.
        var isUrgent = false
    }

    /// One look at all workers.
    func survey() -> Findings {
        let findings = state.withLock { $0.survey() }
        for case let queue as OperationQueue in findings.debtors {
            queue.signal.stopAttending()
            queue.callWorkerIfNone()
        }
        if waiting.load(ordering: .relaxed) > 0 { grantWaiting() }
        return findings
    }
}
