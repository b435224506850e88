import OperationsPrimitives
import Synchronization
import SchedulerCore

/// The threads of one service level.
///
/// A source requests one worker at a time. It gets one at once while fewer unblocked workers of its urgency work than
/// there are cores (for eager sources: than `eagerLimit`). Otherwise the request waits until a worker has no work left,
/// waits inside the system, or is found blocked by the `Monitor`. A worker without work sleeps, and its thread ends after
/// `idleSeconds`.
final class WorkerPool: Sendable {
    /// The most threads that work for the sources of one urgency, blocked threads included. Far above the limit of one
    /// source, because operations of several sources may wait for each other.
    static let ceiling = 4096
    /// The number of threads up to which sources that request their parallelism get threads without delay.
    static let eagerLimit = 64
    /// The time without work after which a thread ends.
    static let idleSeconds = Atomic<UInt64>(5)
    /// The time in nanoseconds after which a worker yields to waiting sources.
    static let quantum: UInt64 = 2_000_000

    private static let all = ServiceLevel.allCases.map { WorkerPool(level: $0) }

    static subscript(level: ServiceLevel) -> WorkerPool { all[level.rawValue] }
    static var pools: [WorkerPool] { all }

    let level: ServiceLevel
    let state = Locked(State())
    /// The number of waiting requests, for reading without the lock.
    private let waiting = Atomic<Int>(0)

    private init(level: ServiceLevel) { self.level = level }

    struct State {
        var idle: [Worker] = []
        var busy: [ObjectIdentifier: Worker] = [:]
        /// The workers and the waiting requests of each urgency. They do not wait for those of another one. A serial queue that
        /// computes forever takes no core from queues with the default limit, and timers fire while both compute.
        private var loads = Urgency.allCases.map { _ in Load() }
        /// The number of the last request that had to wait.
        private var lastNumber: UInt64 = 0
        /// The number of extra workers for shared sources, because all workers were found blocked. See `Monitor`.
        var allowance = 0
        /// The number of extra workers for prompt sources, because their workers are slow. See `Monitor`.
        var promptAllowance = 0
        /// The number of prompt sources that were served. It shows whether waiting sources make progress.
        var promptServed = 0
        /// The value of `promptServed` at the last look.
        var promptServedBefore = 0

        subscript(urgency: Urgency) -> Load {
            _read { yield loads[urgency.rawValue] }
            // In place: a setter would copy the line.
            _modify { yield &loads[urgency.rawValue] }
        }

        /// The number of waiting requests.
        var requestCount: Int { loads.reduce(0) { $0 + $1.line.count } }

        mutating func append(_ request: Request) {
            lastNumber += 1
            self[request.urgency].line.append((request, lastNumber))
        }

        /// Removes the oldest request that may have a worker now. O(1): all requests of an urgency may have one, or none.
        mutating func takeRequest() -> Request? {
            var first: (urgency: Urgency, number: UInt64)?
            for urgency in Urgency.allCases where mayGrant(urgency) {
                guard let number = self[urgency].line.first?.number, number < first?.number ?? .max else { continue }
                first = (urgency, number)
            }
            return first.flatMap { self[$0.urgency].line.popFirst()?.request }
        }
    }

    struct Load {
        /// The requests that wait for a worker, in the order made.
        var line = Ring<(request: Request, number: UInt64)>()
        var busy = 0
        /// The number of busy workers that wait inside the system or were found blocked.
        var blocked = 0
        var active: Int { busy - blocked }

        /// Whether a request of the source waits. O(waiting).
        func hasRequest(of source: any WorkSource) -> Bool {
            (0..<line.count).contains { line[$0].request.source === source }
        }
    }

    /// A request of a source for one worker. The properties of the source are read before the lock is taken.
    struct Request {
        let source: any WorkSource
        let urgency: Urgency

        init(_ source: any WorkSource) { self.init(source: source, urgency: source.urgency) }

        init(source: any WorkSource, urgency: Urgency) { (self.source, self.urgency) = (source, urgency) }
    }

    /// The pool's data about one worker. Guarded by the pool's lock.
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
        var hadPromise = false
        /// The level that waiters have lent to the operation that the thread runs; nil for none.
        var lentLevel: ServiceLevel?
    }

    // MARK: - Requests

    /// Requests one worker for a source.
    ///
    /// The caller gives its reference away under the pool's lock. Otherwise the caller could be the last owner: it would release
    /// the source after the worker, and run a `deinit` of the user. The monitor must not do that.
    func request(_ source: consuming any WorkSource) {
        var request: Request? = Request(source)
        let grant = state.withLock { state in
            let grant = state.grant(request.take().unsafelyUnwrapped, in: self)
            waiting.store(state.requestCount, ordering: .relaxed)
            return grant
        }
        _ = act(on: grant)
    }

    enum Grant {
        case wake(Worker)
        case spawn(Worker)
        case wait
    }

    private func act(on grant: Grant) -> Bool {
        switch grant {
        case .wake(let worker): worker.parker.unpark()
        case .spawn(let worker): return Monitor.shared.takesOver(worker) || spawn(worker)
        case .wait: Monitor.shared.wakeIfAsleep()
        }
        return true
    }

    /// Starts the thread of a worker. False: the system refuses another thread, and the request waits for an existing
    /// worker or for the monitor's next attempt. If the monitor has no thread either, the next request of any source attempts
    /// both again.
    func spawn(_ worker: Worker) -> Bool {
        if worker.spawn() { return true }
        state.withLock { state in
            // The line has a reference too, so this one is not the last. See `request`.
            let source = state.putBackRequest(of: worker)
            if !Monitor.shared.hasThread { source?.noThreadComes(of: level) }
            waiting.store(state.requestCount, ordering: .relaxed)
        }
        Monitor.shared.wakeIfAsleep()
        return false
    }

    /// Gives workers to the requests that may have one now.
    private func grantWaiting() {
        while true {
            let next: Grant? = state.withLock { state in
                guard let request = state.takeRequest() else { return nil }
                let grant = state.grant(request, in: self)
                waiting.store(state.requestCount, ordering: .relaxed)
                return grant
            }
            guard let next, act(on: next) else { return }
        }
    }

    // MARK: - Workers

    /// Notes that the thread of a worker has begun, and returns the worker's first source.
    func workerBegan(_ worker: Worker, clock: ThreadClock) -> (any WorkSource)? {
        state.withLock { _ in
            worker.census.clock = clock
            return worker.census.source
        }
    }

    /// Returns the worker's next source. Sleeps until there is one; nil: the worker should end.
    func nextSource(for worker: Worker) -> (any WorkSource)? {
        releaseSource(of: worker)
        if let found = takeSource(for: worker) { return found }
        return sleep(worker)
    }

    /// Releases the finished source, while the worker still counts as busy. A `deinit` of the user may add work and wait for it.
    /// The pool must not give that work to this worker.
    private func releaseSource(of worker: Worker) {
        let finished = state.withLock { _ in worker.census.source.take() }
        withExtendedLifetime(finished) {}
    }

    /// Removes a request.
    private func takeSource(for worker: Worker) -> (any WorkSource)? {
        state.withLock { state in
            // It has no source.
            _ = state.end(worker)
            guard let request = state.takeRequest() else {
                state.idle.append(worker)
                return nil
            }
            waiting.store(state.requestCount, ordering: .relaxed)
            state.begin(worker, request)
            return request.source
        }
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

    /// Notes that the worker waits inside the system, and needs no core meanwhile.
    func workerBlocks(_ worker: Worker) {
        state.withLock { $0.mark(worker, \.isWaiting, true) }
        if waiting.load(ordering: .relaxed) > 0 { grantWaiting() }
    }

    func workerGoesOn(_ worker: Worker) { state.withLock { $0.mark(worker, \.isWaiting, false) } }

    /// Whether sources other than the asking one wait for a worker. The asking source's own request may be among them.
    @inline(__always)
    func othersWait(besides own: Bool) -> Bool { waiting.load(ordering: .relaxed) > (own ? 1 : 0) }

    func quantumIsOver(of worker: Worker) -> Bool {
        state.withLock { _ in MonotonicClock.elapsed(since: worker.census.since) > Self.quantum }
    }

    // MARK: - Monitoring

    /// The results of one look.
    struct Findings {
        /// The promises that were taken from workers, because their operations take long.
        var promises: [TakenPromise] = []
        /// Whether the monitor should look again.
        var isWorthwhile = false
        /// Whether the monitor should look again soon.
        var isUrgent = false
    }

    struct TakenPromise {
        let worker: Worker
        /// A reference of the monitor. See `release`.
        let queue: Unmanaged<OperationQueue>
        let content: Obligation.Content
    }

    /// Looks at all workers once.
    func survey() -> Findings {
        let findings = state.withLock { $0.survey() }
        for promise in findings.promises {
            promise.queue._withUnsafeGuaranteedRef { $0.fulfill(promise.content, at: level, mayRunUserCode: false) }
            release(promise.queue, of: promise.worker)
        }
        if waiting.load(ordering: .relaxed) > 0 { grantWaiting() }
        return findings
    }

    /// Permits no more workers than cores until the next look.
    func endAllowances() { state.withLock { ($0.allowance, $0.promptAllowance) = (0, 0) } }

    /// Ends the use of a queue by the monitor, which must not be its last owner: a `deinit` of the user may take long. While the
    /// worker works for the queue, it has a reference, which it releases only after it has taken the lock.
    private func release(_ queue: Unmanaged<OperationQueue>, of worker: Worker) {
        let isReleased = state.withLock { _ in
            guard worker.census.source === queue.takeUnretainedValue() else { return false }
            queue.release()
            return true
        }
        if !isReleased { WorkerPool[.normal].request(PoolJob(threadName: nil) { queue.release() }) }
    }
}
