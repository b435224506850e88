import Dispatch

/// Runs queues on threads that are neither the pools' nor Dispatch's. See `ManualExecutor` in `OperationsTesting`.
package protocol QueueHost: TaskExecutor {
    /// A thread is wanted that calls the queue's `workOnce()`.
    func call(_ queue: OperationQueue)
}

// The queues whose threads are not the pools': the main queue, queues with an `underlyingQueue`, hosted ones.
extension OperationQueue {
    /// A queue that runs on a host's threads.
    package convenience init(on host: any QueueHost) { self.init(kind: .hosted(host)) }

    /// Runs on the host's threads from now on, if the other queue does. For queues inside of operations, before they start
    /// anything.
    func adoptHost(of other: OperationQueue) {
        guard case .hosted(let host) = other.state.withLock({ $0.kind }) else { return }
        state.withLock { state in
            guard state.kind.isPool else { return }
            state.kind = .hosted(host)
            state.stallDelay = .zero
        }
        for operation in listed() { (operation as? AsyncOperation)?.innerQueue?.adoptHost(of: self) }
    }

    /// Brings a worker, whatever runs this queue. The caller has claimed the call (`Signal`).
    func callWorker() {
        let (kind, underlying, level) = state.withLock {
            ($0.kind, $0.underlyingQueue, ServiceLevel($0.qualityOfService))
        }
        switch kind {
        case .main: DispatchQueue.main.async { self.workOnce() }
        case .hosted(let host): host.call(self)
        case .pool:
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
            run(claim.held, in: .current)
        } else if let resumption = takeResumption() {
            run(resumption)
        }
    }

    private func run(_ resumption: Resumption) {
        callWorkerIfStartable()
        resumption.run(in: .current)
    }
}
