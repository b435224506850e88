import Dispatch

/// Runs queues on threads that are neither the pools' nor Dispatch's. See `ManualExecutor` in `OperationsTesting`.
package protocol QueueHost: TaskExecutor {
    /// A thread is wanted that calls the queue's `workOnce()`.
    func call(_ queue: OperationQueue)
    /// Which of so many things that may be done now is done first.
    func choose(among count: Int) -> Int
}

// The queues whose threads are not the pools': the main queue, queues with an `underlyingQueue`, hosted ones.
extension OperationQueue {
    /// A queue that runs on a host's threads.
    package convenience init(on host: any QueueHost) { self.init(kind: .hosted(host)) }

    /// Gets its threads from where the other queue has its own, from now on. For queues inside of operations, before they
    /// start anything. False: nothing has changed.
    func adoptKind(of other: OperationQueue) -> Bool {
        let kind: Kind
        switch other.state.withLock({ $0.kind }) {
        case .hosted(let host): kind = .hosted(host)
        case .pool, .main: kind = .pool
        case .unplaced: return false
        }
        return state.withLock { state in
            switch (state.kind, kind) {
            case (.unplaced, .pool): state.kind = kind
            case (.unplaced, .hosted), (.pool, .hosted):
                state.kind = kind
                state.stallDelay = .zero
            default: return false
            }
            return true
        }
    }

    /// A queue whose operation has been started without a queue, or will never be.
    func becomePlaced() {
        state.withLock { state in
            if case .unplaced = state.kind { state.kind = .pool }
        }
    }

    var isPlaced: Bool { state.withLock { $0.kind.isPlaced } }

    /// The host, if it has one.
    var host: (any QueueHost)? {
        if case .hosted(let host) = state.withLock({ $0.kind }) { host } else { nil }
    }

    /// Brings a worker, whatever runs this queue. The caller has claimed the call (`Signal`).
    func callWorker() {
        let (kind, underlying, level) = state.withLock {
            ($0.kind, $0.underlyingQueue, ServiceLevel($0.qualityOfService))
        }
        switch kind {
        case .main: DispatchQueue.main.async { self.workOnce() }
        case .hosted(let host): host.call(self)
        case .pool, .unplaced:
            if let underlying {
                underlying.async { self.workOnce(on: underlying) }
            } else {
                WorkerPool[level].request(self)
            }
        }
    }

    /// Where what belongs to a queue without being one of its operations runs: conditions.
    package var executorBeside: any TaskExecutor {
        let (kind, level) = state.withLock { ($0.kind, ServiceLevel($0.qualityOfService)) }
        if case .hosted(let host) = kind { return host }
        return PoolExecutor.of(level)
    }

    /// Runs one operation, or one part of an async one. The dispatch queue's own blocks get their turn in between (Q8, Q10).
    package func workOnce() { workOnce(on: nil) }

    private func workOnce(on underlying: DispatchQueue?) {
        signal.workerArrived()
        let resumesFirst = hasResumptions && resumptionsReference.withLoaded { $0.alternates() } == true
        if resumesFirst, let resumption = takeResumption() {
            run(resumption)
        } else if let claim = claim(on: underlying) {
            if claim.wantsMore || hasResumptions { callWorkerIfNone() }
            if claim.isToCancel { claim.held.cancelAsPromised() } else { run(claim.held, in: .current) }
        } else if let resumption = takeResumption() {
            run(resumption)
        }
    }

    private func run(_ resumption: Resumption) {
        callWorkerIfStartable()
        resumption.run(in: .current)
    }
}
