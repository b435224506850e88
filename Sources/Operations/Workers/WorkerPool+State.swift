import SchedulerCore

// The pool's decisions. Each runs under the pool's lock and touches nothing else.
extension WorkerPool.State {
    func mayGrant(eager isEager: Bool) -> Bool {
        let load = isEager ? eager : shared
        let limit = isEager ? max(WorkerPool.eagerLimit, Processor.count) : Processor.count + allowance
        return load.active < limit && load.busy < WorkerPool.ceiling
    }

    /// Finds a worker for a request, or room for a new one.
    mutating func grant(_ request: WorkerPool.Request, in pool: WorkerPool) -> WorkerPool.Grant {
        guard mayGrant(eager: request.isEager) else { return .wait }
        if let worker = idle.popLast() {
            begin(worker, request)
            return .wake(worker)
        }
        let worker = Worker(pool: pool)
        begin(worker, request)
        return .spawn(worker)
    }

    /// The oldest request that may have a worker now.
    mutating func takeRequest() -> WorkerPool.Request? {
        requests.removeFirst(eager: mayGrant(eager: true), shared: mayGrant(eager: false))
    }

    mutating func begin(_ worker: Worker, _ request: WorkerPool.Request) {
        busy[ObjectIdentifier(worker)] = worker
        worker.census.source = request.source
        worker.census.isEager = request.isEager
        update(worker) { $0.busy += 1 }
        worker.census.since = MonotonicClock.now
        worker.census.isSeenBlocked = false
        worker.census.lastUsed = .max
    }

    /// The worker is done with its source, which is answered so that it is released without the lock.
    mutating func end(_ worker: Worker) -> (any WorkSource)? {
        busy[ObjectIdentifier(worker)] = nil
        let wasBlocked = worker.census.isBlocked
        update(worker) { load in
            load.busy -= 1
            if wasBlocked { load.blocked -= 1 }
        }
        worker.census.isSeenBlocked = false
        worker.census.isWaiting = false
        return worker.census.source.take()
    }

    mutating func mark(_ worker: Worker, _ mark: WritableKeyPath<WorkerPool.Census, Bool>, _ value: Bool) {
        let was = worker.census.isBlocked
        worker.census[keyPath: mark] = value
        let isBlocked = worker.census.isBlocked
        guard was != isBlocked else { return }
        update(worker) { $0.blocked += isBlocked ? 1 : -1 }
    }

    private mutating func update(_ worker: Worker, _ change: (inout WorkerPool.Load) -> Void) {
        if worker.census.isEager { change(&eager) } else { change(&shared) }
    }

    /// Compares every busy worker with the last look.
    ///
    /// One whose processor clock stood still, and that sleeps, is blocked. When all that work are blocked, as many
    /// again may start: so the number doubles from look to look while operations do nothing but block. When more
    /// compute than there are cores, the surplus is asked to stop after the operation it runs.
    mutating func survey() -> WorkerPool.Findings {
        var debtors: [any WorkSource] = []
        var computing = 0
        var surplus: [Worker] = []
        for worker in busy.values {
            guard let clock = worker.census.clock, let source = worker.census.source else { continue }
            let used = clock.used
            let done = worker.operationsDone
            let stoodStill = used == worker.census.lastUsed
            mark(worker, \.isSeenBlocked, stoodStill && (worker.census.isSeenBlocked || clock.isAsleep))
            if !worker.census.isBlocked, worker.census.lastUsed != .max {
                computing += 1
                if !worker.census.isEager { surplus.append(worker) }
            }
            let hasDebt = worker.hasDebt
            if hasDebt, worker.census.hadDebt, done == worker.census.lastDone, worker.collectDebt() {
                debtors.append(source)
            }
            worker.census.hadDebt = hasDebt
            worker.census.lastUsed = used
            worker.census.lastDone = done
        }
        allowance = computing == 0 ? shared.blocked : 0
        for worker in surplus.dropFirst(Processor.count) { worker.retireSoon() }
        let hasDebts = !debtors.isEmpty || busy.values.contains { $0.hasDebt }
        return WorkerPool.Findings(
            debtors: debtors, isWorthwhile: requests.count > 0 || hasDebts,
            isUrgent: eager.blocked + shared.blocked > 0 || hasDebts)
    }
}
