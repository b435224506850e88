package import DurableCore

/// A naive model of a store. The model keeps no counters and no ready lists: each question scans all operations.
package struct Reference {
    package struct Operation {
        package let id: OperationID
        package var queue: ExactName
        package var kind: ExactName
        package var epoch: Int
        package var priority: Int64
        package var key: ExactName?
        package var dependencies: Set<OperationID> = []
        package var policy: DurableFailurePolicy
        package var isDoomed = false
        package var retry: RetryRule
        package var parent: OperationID?
        package var readyAt: DurableInstant?
        /// The instant at which the running operation had become ready.
        package var claimedFrom: DurableInstant?
        package var wakeAt: DurableInstant?
        /// Whether only `wakeDue` makes the operation ready.
        package var isScheduled = false
        package var phase = Phase.idle
        package var isCancelRequested = false
        package var worker: WorkerID?
        package var fence: Int64 = 0
        package var failures: Int64 = 0
        package var crashes: Int64 = 0
        package var death: WorkerID?
        package var history: Int64 = 0
        package var signals: [ExactName] = []
        package var endedAt: DurableInstant?
        package var deadline: DurableInstant?
    }

    package enum Phase: Equatable {
        case idle
        case running
        case awaitingSignal(ExactName)
        case finishing(DurableState)
        case ended(DurableState)
    }

    struct Queue {
        var isSuspended = false
        var limit: Int?
        var limitPerKey: Int?
        var limits: [ExactName: Int] = [:]
        var ratePerKey: RateRule?
        var rates: [ExactName: RateRule] = [:]
        /// The instants at which the allowances of the keys are full again.
        var filledAt: [ExactName: DurableInstant] = [:]
        var lastEpoch = 0

        /// Changes the rates. A key with another rate than before forgets its past starts.
        mutating func setRates(_ change: (inout Queue) -> Void) {
            let before = self
            change(&self)
            for key in filledAt.keys where rates[key] ?? ratePerKey != before.rates[key] ?? before.ratePerKey {
                filledAt[key] = nil
            }
        }
    }

    struct Unique: Hashable {
        var kind: ExactName
        var key: ExactName
    }

    package var now: DurableInstant
    package var operations: [OperationID: Operation] = [:]
    package var workers: [WorkerID: DurableInstant] = [:]
    package var lastWorker: Int64 = 0
    var processes: [WorkerID: String] = [:]
    /// The operations that workers will run alone.
    var isolated: [WorkerID: OperationID] = [:]
    /// The identifier of the next operation.
    package var idLimit = OperationID(1)
    var queues: [ExactName: Queue] = [:]
    var uniques: [Unique: (OperationID, until: DurableInstant?)] = [:]
    let limits: DurableLimits

    package init(now: DurableInstant, limits: DurableLimits) { (self.now, self.limits) = (now, limits) }

    /// The operations in ascending order of identifiers.
    package var sorted: [Operation] { operations.values.sorted { $0.id < $1.id } }

    /// Returns the state that the rules imply.
    package func state(of operation: Operation) -> DurableState {
        switch operation.phase {
        case .ended(let state): return state
        case .running: return .running
        case .awaitingSignal: return .awaitingSignal
        case .finishing: return .finishing
        case .idle:
            if !operation.dependencies.isEmpty { return .waiting }
            if operation.readyAt == nil { return .scheduled }
            return isAdmitted(operation) ? .ready : .blocked
        }
    }

    /// Whether the operation is among the first operations of its key, up to the free part of the limit and the rate.
    private func isAdmitted(_ operation: Operation) -> Bool {
        guard let key = operation.key, let queue = queues[operation.queue] else { return true }
        let same = operations.values.filter { $0.key == key && $0.queue == operation.queue }
        let running = same.count { $0.phase == .running }
        let earlier = same.count { $0.isReadyOrBlocked && precedes($0, operation) }
        if let limit = queue.limits[key] ?? queue.limitPerKey, earlier >= limit - running { return false }
        guard let rate = queue.rates[key] ?? queue.ratePerKey else { return true }
        return earlier < Int(rate.allowance(filledAt: queue.filledAt[key], now: now))
    }

    func precedes(_ a: Operation, _ b: Operation) -> Bool {
        (a.epoch, -a.priority, a.readyAt ?? now, a.id) < (b.epoch, -b.priority, b.readyAt ?? now, b.id)
    }

    /// Returns the first operations that may start.
    func startable(
        queue name: ExactName, kinds: [ExactName], count: Int, where isIncluded: (Operation) -> Bool = { _ in true }
    ) -> [Operation] {
        let queue = queues[name] ?? Queue()
        if queue.isSuspended { return [] }
        let members = operations.values.filter { $0.queue == name && !$0.isEnded }
        let epoch = members.map(\.epoch).min() ?? 0
        let running = members.count { $0.phase == .running }
        let free = min(count, (queue.limit ?? .max) - running)
        let ready = members.filter {
            kinds.contains($0.kind) && $0.epoch == epoch && state(of: $0) == .ready && isIncluded($0)
        }
        return Array(ready.sorted(by: precedes).prefix(max(0, free)))
    }

    /// Releases dependents of ended operations, and makes operations ready, until no rule applies.
    mutating func settle() {
        var isChanged = true
        while isChanged {
            isChanged = false
            for id in operations.keys.sorted() {
                guard let operation = operations[id] else { continue }
                var changed = operation
                changed.dependencies = changed.dependencies.filter { operations[$0]?.isEnded == false }
                if changed.phase == .idle, changed.dependencies.isEmpty, changed.readyAt == nil {
                    if changed.isDoomed {
                        changed.end(changed.policy == .fail ? .failed : .cancelled, now)
                    } else if let wakeAt = changed.wakeAt, wakeAt > now || changed.isScheduled {
                        changed.isScheduled = true
                    } else {
                        (changed.readyAt, changed.wakeAt) = (now, nil)
                    }
                }
                if case .finishing(let outcome) = changed.phase, !hasChildren(changed.id) {
                    changed.end(changed.isCancelRequested ? .cancelled : outcome, now)
                }
                operations[operation.id] = changed
                if changed.isEnded, !operation.isEnded { noteEnd(of: changed) }
                isChanged = isChanged || changed.isEnded != operation.isEnded
            }
        }
    }

    func hasChildren(_ id: OperationID) -> Bool { operations.values.contains { $0.parent == id && !$0.isEnded } }

    /// Marks the dependents whose failure policy reacts to the outcome. Later outcomes of a retried operation do not count.
    mutating func noteEnd(of ended: Operation) {
        for id in operations.keys where dooming[id]?.remove(ended.id) != nil {
            guard ended.phase != .ended(.succeeded), operations[id]?.policy != .runAnyway else { continue }
            if operations[id]?.isEnded == false { operations[id]?.isDoomed = true }
        }
    }

    /// The dependencies of each operation whose failure the policy of the operation sees.
    var dooming: [OperationID: Set<OperationID>] = [:]
}

extension Reference.Operation {
    var isEnded: Bool { if case .ended = phase { true } else { false } }

    var isReadyOrBlocked: Bool { phase == .idle && dependencies.isEmpty && readyAt != nil }

    var lease: Lease? {
        guard phase == .running, let worker else { return nil }
        return Lease(operation: id, worker: worker, fence: fence)
    }

    mutating func end(_ state: DurableState, _ now: DurableInstant) {
        (phase, endedAt, isCancelRequested) = (.ended(state), now, false)
        (wakeAt, readyAt) = (nil, nil)
    }

    /// Removes the operation from its worker or wait.
    mutating func becomeIdle() { (phase, readyAt, isScheduled) = (.idle, nil, false) }
}
