import OperationsPrimitives
import SchedulerCore

// The pool's decisions. Each runs under the pool's lock and accesses no other state.
extension WorkerPool.State {
    func mayGrant(_ urgency: Urgency) -> Bool {
        let load = self[urgency]
        let limit =
            switch urgency {
            case .shared: Processor.count + allowance
            case .eager: max(WorkerPool.eagerLimit, Processor.count)
            case .prompt: Processor.count + promptAllowance
            }
        return load.active < limit && load.busy < WorkerPool.ceiling
    }

    /// Finds a worker for a request, or permits a new one. Otherwise the request waits.
    mutating func grant(_ request: WorkerPool.Request, in pool: WorkerPool) -> WorkerPool.Grant {
        guard mayGrant(request.urgency) else {
            append(request)
            return .wait
        }
        if let worker = idle.popLast() {
            begin(worker, request)
            return .wake(worker)
        }
        let worker = Worker(pool: pool)
        begin(worker, request)
        return .spawn(worker)
    }

    /// Permits one more worker for prompt sources, at each look at which some wait and none was served since the last
    /// look. Then all their workers run user code that takes long. The limit is that of eager sources.
    ///
    /// The allowance covers the surplus that works already. Otherwise the next request would wait for one look for each
    /// of those workers.
    private mutating func helpPromptSources() {
        let isStuck = self[.prompt].line.count > 0 && promptServed == promptServedBefore
        let surplus = max(0, self[.prompt].active - Processor.count)
        promptAllowance = min(isStuck ? surplus + 1 : surplus, WorkerPool.eagerLimit)
        promptServedBefore = promptServed
    }

    mutating func begin(_ worker: Worker, _ request: WorkerPool.Request) {
        busy[ObjectIdentifier(worker)] = worker
        worker.census.source = request.source
        worker.census.urgency = request.urgency
        update(worker) { $0.busy += 1 }
        worker.census.since = MonotonicClock.now
        worker.census.isSeenBlocked = false
        worker.census.lastUsed = .max
    }

    /// Ends the work for a source. Returns the source, so that it is released without the lock.
    mutating func end(_ worker: Worker) -> (any WorkSource)? {
        busy[ObjectIdentifier(worker)] = nil
        let wasBlocked = worker.census.isBlocked
        update(worker) { load in
            load.busy -= 1
            if wasBlocked { load.blocked -= 1 }
        }
        worker.census.isSeenBlocked = false
        worker.census.isWaiting = false
        if worker.census.urgency == .prompt { promptServed &+= 1 }
        return worker.census.source.take()
    }

    /// Ends the work of a worker that has no thread. Its request waits again, unless one of the same queue waits already.
    /// Returns the source.
    mutating func putBackRequest(of worker: Worker) -> (any WorkSource)? {
        guard let source = end(worker) else { return nil }
        let isRepeated = source is OperationQueue && self[worker.census.urgency].hasRequest(of: source)
        if !isRepeated { append(.init(source: source, urgency: worker.census.urgency)) }
        return source
    }

    mutating func mark(_ worker: Worker, _ mark: WritableKeyPath<WorkerPool.Census, Bool>, _ value: Bool) {
        let was = worker.census.isBlocked
        worker.census[keyPath: mark] = value
        let isBlocked = worker.census.isBlocked
        guard was != isBlocked else { return }
        update(worker) { $0.blocked += isBlocked ? 1 : -1 }
    }

    private mutating func update(_ worker: Worker, _ change: (inout WorkerPool.Load) -> Void) {
        change(&self[worker.census.urgency])
    }

    /// Compares every busy worker with the last look.
    ///
    /// A worker is blocked if its processor clock stood still and it sleeps. When all working threads are blocked, the
    /// same number may start again. So the number doubles from look to look while operations only block. When more
    /// workers compute than there are cores, the surplus is requested to stop after the present operation.
    mutating func survey() -> WorkerPool.Findings {
        var promises: [WorkerPool.TakenPromise] = []
        var computing = 0
        var surplus: [Worker] = []
        for worker in busy.values {
            guard let clock = worker.census.clock else { continue }
            let used = clock.used
            let done = worker.operationsDone
            let stoodStill = used == worker.census.lastUsed
            mark(worker, \.isSeenBlocked, stoodStill && (worker.census.isSeenBlocked || clock.isAsleep))
            if !worker.census.isBlocked, worker.census.lastUsed != .max {
                computing += 1
                if worker.census.urgency == .shared { surplus.append(worker) }
            }
            let hasPromise = worker.obligation.isSet
            if hasPromise, worker.census.hadPromise, done == worker.census.lastDone,
                let queue = worker.census.source as? OperationQueue
            {
                let content = worker.obligation.take()
                promises.append(.init(worker: worker, queue: .passRetained(queue), content: content))
            }
            worker.census.hadPromise = hasPromise
            worker.census.lastUsed = used
            worker.census.lastDone = done
        }
        allowance = computing == 0 ? self[.shared].blocked : 0
        helpPromptSources()
        for worker in surplus.dropFirst(Processor.count) { worker.retireSoon() }
        let hasPromises = !promises.isEmpty || busy.values.contains { $0.obligation.isSet }
        return WorkerPool.Findings(
            promises: promises, isWorthwhile: requestCount > 0 || hasPromises,
            isUrgent: Urgency.allCases.contains { self[$0].blocked > 0 } || hasPromises
                || self[.prompt].line.count > 0)
    }
}
