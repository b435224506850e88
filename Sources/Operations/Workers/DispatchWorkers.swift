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
        guard let claim = claim(on: underlying) else { return }
        if claim.wantsMore { callWorkerIfNone() }
        run(claim.held, in: .current)
    }
}
