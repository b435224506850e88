import Dispatch

// The queues whose threads are Dispatch's: the main queue, and queues with an `underlyingQueue`.
extension OperationQueue {
    /// Brings a worker, whatever runs this queue. The caller has claimed the call (`Signal`).
    func callWorker() {
        let (kind, underlying, level) = state.withLock {
            ($0.kind, $0.underlyingQueue, ServiceLevel($0.qualityOfService))
        }
        if let dispatchQueue = underlying ?? (kind == .main ? DispatchQueue.main : nil) {
            dispatchQueue.async { self.workOnce(on: underlying) }
        } else {
            WorkerPool[level].request(self)
        }
    }

    /// Runs one operation and goes to the back of the dispatch queue, so that its own blocks get their turn (Q8, Q10).
    private func workOnce(on underlying: DispatchQueue?) {
        signal.workerArrived()
        let resumesFirst = resumptionsReference.withLoaded { $0.alternates() } ?? true
        switch takeTurn(resumesFirst: resumesFirst, on: underlying) {
        case .start(let claim):
            if claim.wantsMore || hasResumptions { callWorkerIfNone() }
            run(claim.held, in: .current)
        case .resume(let resumption):
            callWorkerIfStartable()
            resumption.run(in: .current)
        case nil: return
        }
    }
}
