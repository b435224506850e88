import Dispatch

/// A host that runs queues on its own threads, not on threads of the pools or of Dispatch. See `ManualExecutor` in
/// `OperationsTesting`.
package protocol QueueHost: TaskExecutor {
    /// Requests a thread that calls the queue's `workOnce()`.
    func call(_ queue: OperationQueue)
    /// Returns the index of the step to do first, among this many possible steps.
    func choose(among count: Int) -> Int
}

// Queues that do not use threads of the pools: the main queue, queues with an `underlyingQueue`, hosted queues.
extension OperationQueue {
    /// Creates a queue that runs on a host's threads.
    package convenience init(on host: any QueueHost) { self.init(kind: .hosted(host)) }

    /// Gives this queue the same source of threads as another queue, and the same `inheritsTaskContext`. For inner queues of
    /// operations, before they start an operation. False: nothing has changed.
    func adoptKind(of other: OperationQueue) -> Bool {
        let kind: Kind
        switch other.state.withLock({ $0.kind }) {
        case .hosted(let host): kind = .hosted(host)
        case .pool, .main: kind = .pool
        case .unplaced: return false
        }
        // Read after the kind: an inner queue takes over this setting before it is placed.
        let inherits = other.inheritsTaskContext
        return state.withLock { state in
            guard case .unplaced = state.kind else { return false }
            inheritsTaskContext = inherits
            state.kind = kind
            if case .hosted = kind {
                state.stallDelay = .zero
                updateServiceMap(state)
            }
            return true
        }
    }

    /// Gives a queue threads of the pool, because its operation was started without a queue, or will never be added to
    /// one. False: nothing has changed.
    @discardableResult
    func becomePlaced() -> Bool {
        state.withLock { state in
            guard case .unplaced = state.kind else { return false }
            state.kind = .pool
            return true
        }
    }

    var isPlaced: Bool { state.withLock { $0.kind.isPlaced } }

    /// Whether the queue runs on threads of Dispatch: the main queue, and queues with an `underlyingQueue`.
    var usesDispatch: Bool { state.withLock { $0.kind.isMain || $0.underlyingQueue != nil } }

    /// Whether the main thread runs the operations of the queue: of the main queue, and of queues over the main dispatch queue.
    var usesMainThread: Bool { state.withLock { $0.usesMainThread } }

    /// The host of the queue, if it has one.
    var host: (any QueueHost)? {
        if case .hosted(let host) = state.withLock({ $0.kind }) { host } else { nil }
    }

    /// Calls a worker of a level, for any kind of queue. The caller has claimed the call (`Signal`).
    func callWorker(_ level: ServiceLevel) {
        let (kind, underlying) = state.withLock { ($0.kind, $0.underlyingQueue) }
        switch kind {
        case .main:
            DispatchQueue.main.async { self.workOnce(on: nil, calledFor: level) }
            // The thread may block for long before it looks. An explanation finds the operations in the state only.
            takeIn()
        case .hosted(let host):
            host.call(self)
            takeIn()
        case .pool, .unplaced:
            if let underlying {
                underlying.async { self.workOnce(on: underlying, calledFor: level) }
                takeIn()
            } else {
                WorkerPool[level].request(self)
            }
        }
    }

    /// The executor of work that belongs to a queue without being one of its operations, such as conditions.
    package var executorBeside: any TaskExecutor {
        let (kind, level) = state.withLock { ($0.kind, ServiceLevel($0.qualityOfService)) }
        if case .hosted(let host) = kind { return host }
        return PoolExecutor.of(level)
    }

    /// Runs one operation, or one part of an async operation. Other blocks of the dispatch queue run in between (Q8,
    /// Q10).
    package func workOnce() { workOnce(on: nil, calledFor: level) }

    /// - Parameter called: The level of the call. The levels of the queue may have changed since.
    private func workOnce(on underlying: DispatchQueue?, calledFor called: ServiceLevel) {
        signal.workerArrived(called)
        if let resumption = takeResumptionInTurn() { return run(resumption) }
        let look = look(for: nil, on: underlying)
        callWorkers(look.more)
        guard let claim = look.claim else {
            if let resumption = takeResumption() { run(resumption) }
            return
        }
        if hasResumptions { callWorkerIfNone(level) }
        let operation = claim.takeOperation()
        if claim.isToCancel { operation.cancelAsPromised() } else { run(operation, in: .current) }
    }

    /// Resumptions and starts alternate. A host with a seed chooses instead.
    private func takeResumptionInTurn() -> Resumption? {
        guard hasResumptions else { return nil }
        let host = host
        let isChosen = host?.choose(among: 2) == 1
        return resumptionsReference.withLoaded { resumptions in
            guard resumptions.alternates() != isChosen else { return nil }
            let index = host?.choose(among: max(1, resumptions.waitingCount)) ?? 0
            return resumptions.takeFirst(after: index)
        } ?? nil
    }

    private func run(_ resumption: Resumption) {
        callWorkersIfStartable()
        resumption.run(in: .current)
    }
}

extension OperationQueue.State {
    var usesMainThread: Bool { kind.isMain || underlyingQueue.map(MainThread.isMain) == true }
}
