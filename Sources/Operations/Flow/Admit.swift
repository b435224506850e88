// Between ready and start: the thread that has claimed an operation admits the operation, without a lock. One swap of the
// word detects changes since the claim: a dependency, a promised cancellation, an announcement. For a gated operation, the
// thread first checks dependencies, conditions and resources. An operation that has to wait returns its slot and becomes a
// waiting operation again. A change in the cause of the wait evaluates the readiness of the operation again. So a waiting
// operation holds no slot and no resources. It acquires both just before it starts.

import SchedulerCore

extension OperationQueue {
    /// Whether a claimed operation may start. If not, the operation has been put back, or has ended.
    func admit(_ operation: Operation) -> Bool {
        HeldLocks.assertNone()
        let isGated = operation.word.lifecycle.contains(.gated)
        guard !isGated || passGates(operation) else { return false }
        while true {
            let admission = operation.word.decide { $0.admitted() }
            switch admission {
            case .start:
                if isGated { for gate in operation.gates { gate.willStart(operation, in: self) } }
                return true
            case .askAgain(let word) where !word.contains(.gated) && untracked({ operation.isReady }):
                // Not put back: operations that were added later would start before it.
                continue
            case .askAgain, .putBack:
                let asks = if case .askAgain = admission { true } else { false }
                if isGated { for gate in operation.gates { gate.putBack(operation, andAsk: asks) } }
                putBack(operation, andAsk: asks)
                return false
            case .finish:
                operation.finishIfFinished()
                // An override of `isFinished` may have returned to false since the announcement.
                return operation.word.lifecycle.phase == .starting
            }
        }
    }

    /// Whether a gated operation has passed its gates. If not, the operation has been put back.
    private func passGates(_ operation: Operation) -> Bool {
        let hasBegun = operation.word.lifecycle.contains(.hasBegun)
        for gate in operation.gates {
            // Read for each gate: a gate that gives up cancels the operation, unless its `cancel()` is overridden.
            let isCancelled =
                gate.protectsOthers ? operation.word.lifecycle.isCancelled : untracked { operation.isCancelled }
            guard !isCancelled || hasBegun else { continue }
            switch isCancelled ? gate.mayContinue(operation) : gate.mayStart(operation) {
            case .passes: continue
            case .waits(let inLine, let action):
                for other in operation.gates where type(of: other).rank.rawValue > type(of: gate).rank.rawValue {
                    other.lapse(operation)
                }
                putBack(operation, inLine: inLine)
                action?(executorBeside)
                return false
            case .givesUp(let reason):
                operation.giveUp(reason)
            }
        }
        return true
    }

    /// Returns the slot of a claimed operation that has not started.
    ///
    /// - Parameters:
    ///   - andAsk: Whether to evaluate the readiness of the operation at once, because no known cause holds it back.
    ///   - inLine: Whether the operation waits in the line of a resource.
    func putBack(_ operation: Operation, andAsk: Bool = false, inLine: Bool = false) {
        let old = withState { state in
            if inLine { state.policy(orNew: ResourceOffers()).joinsLine(operation) }
            let old = operation.word.update { $0.declined() }.unsafelyUnwrapped
            state.returnToWaiting(operation, old, hasBegun: false)
            // The thread may be one that does not look again.
            watchForStall(&state)
            return old
        }
        operation.notifyGatesOfWait(in: self)
        if old.contains(.finishAnnounced) { operation.finishIfFinished() }
        // An operation with a promised cancellation has to be ready: the next worker that claims it calls its `cancel()`.
        if andAsk || old.isExempt || old.containsAny([.askAgain, .cancelPromised]) {
            operation.reconsiderReadiness()
        }
    }
}

extension OperationQueue.State {
    /// Takes the slot back from an operation that has not ended.
    mutating func returnToWaiting(_ operation: Operation, _ lifecycle: Lifecycle, hasBegun: Bool) {
        handle(.putBack(operation.asMember, lane: lifecycle.effectivePriority))
        if policies.concern(lifecycle) { notePoliciesPutBack(operation, lifecycle, hasBegun: hasBegun) }
    }
}
