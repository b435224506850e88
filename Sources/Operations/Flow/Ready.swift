// Step 2 of 5: ready. Before: add. After: start.
//
// `isReady` belongs to the operation, and a subclass may override it. The queue keeps only the last value. Every event on
// which the value may depend ends in `reconsiderReadiness`: a dependency that finishes or is removed, a cancellation, an
// announcement. One thread at a time reads the value, and other threads make it read again. So the last value is the
// present one.

import CPlatform
@_spi(Hosting) import KeyValueObserving
import SchedulerCore
import Synchronization

extension Operation {
    /// Reads `isReady` again if the operation waits in a queue. The caller holds a reference.
    final func reconsiderReadiness() {
        let question = word.decide {
            $0.reconsidered()
        } next: {
            $0.next
        }
        if case .ask = question { askWhetherReady() }
    }

    /// Reads an overridden `isReady` of an operation in no queue. The value is not used, but the override may act on the
    /// call (rule A3). The caller holds a reference.
    final func askThoughUnqueued() {
        guard word.lifecycle.phase == .idle, !isPlainBlock else { return }
        HeldLocks.assertNone()
        _ = untracked { isReady }
    }

    /// Reads `isReady` until the value holds. The caller's `reconsidered` returned `ask`, which pins the operation.
    final func askWhetherReady() {
        HeldLocks.assertNone()
        while true {
            let isReady = untracked { self.isReady }
            // The pin keeps the queue alive only until the answer is settled. The push comes after.
            let queue = queue
            let gatedQueue = word.lifecycle.contains(.gated) ? queue?.takeUnretainedValue() : nil
            let id = scheduleID
            let answer = word.decide {
                $0.answered(isReady: isReady)
            } next: {
                $0.next
            }
            switch answer {
            case .askAgain: continue
            case .settled(let next, let finishNow):
                if let gatedQueue { Self.settledGated(id, next, gatedQueue) }
                if finishNow { finishOrReconsider() }
                return
            case .push:
                pushReady(into: queue)
                return
            }
        }
    }

    /// Releases reserved resources of a gated operation that is not ready. They must not wait until the queue has a free
    /// slot. The operation may be released once the answer is settled.
    private static func settledGated(_ id: UInt, _ lifecycle: Lifecycle, _ queue: OperationQueue) {
        if lifecycle.contains(.ready) { queue.takeIn() } else { ResourcePool.stepOut(id) }
    }

    /// Finishes the operation, because its end was announced during the question. If the end was revoked, reads `isReady`
    /// again.
    private final func finishOrReconsider() {
        finishIfFinished()
        reconsiderReadiness()
    }

    /// Ends a question that was asked only for its pin. The answer does not change.
    final func unpin() {
        let queue = queue
        let answer = word.decide {
            $0.answered(isReady: $0.contains(.ready))
        } next: {
            $0.next
        }
        switch answer {
        case .askAgain: askWhetherReady()
        case .settled(_, let finishNow): if finishNow { finishOrReconsider() }
        case .push: pushReady(into: queue)
        }
    }

    /// Pushes the answer to the queue, pinned. The operation may be released from the push on.
    private final func pushReady(into queue: Unmanaged<OperationQueue>?) {
        guard let queue = queue?.takeUnretainedValue() else { return }
        let isGated = word.lifecycle.contains(.gated)
        queue.push(self, last: nil)
        // Reserved resources must not wait until the queue has a free slot. The thread that has the lock offers or
        // releases them.
        if isGated { queue.takeIn() }
    }

    // MARK: - Dependencies

    final func depend(on dependency: Operation) throws(OperationError) {
        guard dependency !== self else { throw .dependsOnItself(operation: label) }
        // In a large graph most of the time is spent waiting for memory. The memory of the dependency is fetched while
        // the memory of this operation is used.
        cplatform_prefetch(Unmanaged.passUnretained(dependency).toOpaque())
        let attachments = ownAttachments
        dependency.followPaths()
        // A dependency that has finished, also only by its overridden `isFinished`, delays no operation (rule D3).
        let isOpen = !dependency.asked {
            $0.isFinished
        } else: {
            dependency.isFinished
        }
        dependency.attachmentsReference.prefetch()
        var (isHeld, isFirst) = (false, false)
        exchange([.dependencies]) {
            guard isHeld else { return }
            if !dependency.adopt(attachments) { attachments.finished(dependency) }
            if PriorityLending.isUsed { dependency.lend(word.lifecycle.lends) }
            if isFirst { announceReadiness() }
            reconsiderReadiness()
        } _: { state -> Dependencies? in
            guard state.readiness.add(dependency) else { return nil }
            if isOpen, let old = word.update({ $0.heldByOneMore() }) {
                state.readiness.holdLast()
                isHeld = true
                isFirst = old.unfinished == 0
            }
            return state.dependencies(replacing: { $0.dropLast() })
        }
    }

    final func stopDepending(on dependency: Operation) {
        guard attachments != nil else { return }
        var (wasHeld, wasLast) = (false, false)
        exchange([.dependencies]) {
            if wasLast { announceReadiness() }
            guard wasHeld || !isPlainBlock else { return }
            reconsiderReadiness()
            askThoughUnqueued()
        } _: { state -> Dependencies? in
            let old = state.areDependenciesObserved ? state.readiness.dependencies : []
            guard let removed = state.readiness.remove(dependency) else { return nil }
            wasHeld = removed.held
            if wasHeld { wasLast = word.update { $0.heldByOneLess() }?.unfinished == 1 }
            return state.dependencies(replacing: { _ in old[...] })
        }
    }

    private typealias Dependencies = (old: [Operation], new: [Operation])

    /// Records a dependent. False: this operation has finished, and the dependent need not wait.
    private final func adopt(_ dependent: Attachments) -> Bool {
        let attachments = ownAttachments
        // Released without the lock.
        var forgotten: [Attachments] = []
        let isOpen = attachments.withLock { state in
            guard !state.isClosed else { return false }
            forgotten = state.adopt(dependent)
            return true
        }
        withExtendedLifetime(forgotten) {}
        guard isOpen else { return false }
        // The word orders the finisher's step to `finishing` and this bit. Either the finisher sees the bit and notifies
        // the dependent, or this thread sees the phase and does so itself. Both may happen, and two notifications are
        // harmless.
        return word.insert(.hasDependents).phase.rawValue < Lifecycle.Phase.finishing.rawValue
    }

    /// Notifies every dependent that this operation has finished. Part of step 4.
    final func notifyDependents() {
        // A swap retains nothing, a copy does.
        var dependents = SmallArray<Attachments>()
        attachmentsReference.withLoaded { attachments in
            attachments.withLock { state in
                state.isClosed = true
                swap(&dependents, &state.dependents)
            }
        }
        dependents.handOver { $0.finished(self) }
    }
}

extension Attachments {
    /// Records that a dependency of this operation has finished.
    fileprivate func finished(_ dependency: Operation) {
        var observed: Operation?
        var unqueued: Unmanaged<Operation>?
        #if DEBUG
        // A debug build counts references that an optimized build does not. The last one must not be released under the
        // lock.
        var kept: Unmanaged<Operation>?
        defer { kept?.release() }
        #endif
        let asker: Operation? = withLock { state in
            guard state.readiness.finished(dependency), let operation = state.operation else { return nil }
            #if DEBUG
            kept = Operation.retainedIfAlive(operation)
            guard kept != nil else { return nil }
            #endif
            // Under the lock, which `deinit` needs, the memory of the operation is valid. After it, only the pin of `ask`
            // or a counted reference keeps the operation.
            return operation._withUnsafeGuaranteedRef { operation in
                let question = operation.word.decide { lifecycle -> HeldQuestion in
                    let next = lifecycle.heldByOneLess()
                    // An override may look at single dependencies (rule A3).
                    guard next.unfinished == 0 || !operation.isPlainBlock else { return .none(next) }
                    switch next.reconsidered() {
                    case .needless: return .none(next)
                    case .delegated(let next): return .none(next)
                    case .ask(let next): return .ask(next)
                    }
                } next: {
                    $0.next
                }
                if question.next.unfinished == 0 { observed = state.weakOperation?.operation }
                if case .ask = question { return operation }
                if question.next.phase == .idle, !operation.isPlainBlock {
                    unqueued = Operation.retainedIfAlive(.passUnretained(operation))
                }
                return nil
            }
        }
        // Observers are notified before the change takes effect.
        observed?.announceReadiness()
        asker?.askWhetherReady()
        unqueued?.takeRetainedValue().askThoughUnqueued()
    }

    private enum HeldQuestion {
        case none(Lifecycle)
        case ask(Lifecycle)

        var next: Lifecycle {
            switch self {
            case .none(let next), .ask(let next): next
            }
        }
    }
}

extension Operation {
    /// Returns a new reference, unless the last reference has gone. The memory has to be valid: `deinit` cannot end
    /// without the lock of the attachments.
    fileprivate static func retainedIfAlive(_ operation: Unmanaged<Operation>) -> Unmanaged<Operation>? {
        cplatform_try_retain(operation.toOpaque()).map { Unmanaged.fromOpaque($0) }
    }
}

extension Attachments.State {
    fileprivate var areDependenciesObserved: Bool { isObserved && observers.isObserved(.name("dependencies")) }

    /// Returns the dependencies before and after a change; empty lists if no observer needs them.
    fileprivate func dependencies(
        replacing old: (ArraySlice<Operation>) -> ArraySlice<Operation>
    ) -> (old: [Operation], new: [Operation]) {
        guard areDependenciesObserved else { return ([], []) }
        let new = readiness.dependencies
        return (Array(old(new[...])), new)
    }

    /// Keeps a dependent. When the number has doubled, released and repeated dependents are removed and returned.
    fileprivate mutating func adopt(_ dependent: Attachments) -> [Attachments] {
        var removed: [Attachments] = []
        if dependents.count >= sweepLimit {
            var seen = Set<ObjectIdentifier>()
            dependents.removeAll {
                let isNeedless =
                    $0.isAbandoned.load(ordering: .acquiring) || !seen.insert(ObjectIdentifier($0)).inserted
                if isNeedless { removed.append($0) }
                return isNeedless
            }
            sweepLimit = UInt32(max(32, dependents.count * 2))
        }
        dependents.append(dependent)
        return removed
    }
}

extension Lifecycle.Question {
    var next: Lifecycle? {
        switch self {
        case .needless: nil
        case .delegated(let next), .ask(let next): next
        }
    }
}

extension Lifecycle.Answer {
    var next: Lifecycle? {
        switch self {
        case .askAgain(let next), .settled(let next, _), .push(let next): next
        }
    }
}
