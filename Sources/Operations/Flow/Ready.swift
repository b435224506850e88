// Step 2 of 5: ready. Before: add. After: start.
//
// `isReady` belongs to the operation, and a subclass may override it; the queue keeps only its last answer. Whatever
// the answer may depend on ends in `reconsiderReadiness`: a dependency that finishes or is removed, a cancellation, an
// announcement. Only one thread asks at a time and the others make it ask again, so the last answer is the truth.

import CPlatform
@_spi(Hosting) import KeyValueObserving
import SchedulerCore
import Synchronization

extension Operation {
    /// Asks `isReady` anew if the operation waits in a queue. Call it while holding a reference.
    final func reconsiderReadiness() {
        let question = word.decide {
            $0.reconsidered()
        } next: {
            $0.next
        }
        if case .ask = question { askWhetherReady() }
    }

    /// Asks an override of `isReady` of an operation in no queue, which needs no answer: the override may act on it (rule A3).
    /// Call it while holding a reference.
    final func askThoughUnqueued() {
        guard word.lifecycle.phase == .idle, !isPlainBlock else { return }
        HeldLocks.assertNone()
        _ = untracked { isReady }
    }

    /// Asks until the answer holds. The caller's `reconsidered` said `ask`, which pins the operation.
    final func askWhetherReady() {
        HeldLocks.assertNone()
        while true {
            let isReady = untracked { self.isReady }
            // The pin keeps the queue alive only until the answer is settled; the push comes after.
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

    /// What may be kept for a gated operation is not, when it is not ready; and must not wait until its queue has room. From
    /// the answer on the operation may be gone.
    private static func settledGated(_ id: UInt, _ lifecycle: Lifecycle, _ queue: OperationQueue) {
        if lifecycle.contains(.ready) { queue.takeIn() } else { ResourcePool.stepOut(id) }
    }

    /// The end was announced while the question was open. Should it have been taken back, the question is open again.
    private final func finishOrReconsider() {
        finishIfFinished()
        reconsiderReadiness()
    }

    /// Ends a question that was only asked for its pin; the answer stays what it was.
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

    /// Brings the answer to the queue, pinned. From the push on the operation may be gone.
    private final func pushReady(into queue: Unmanaged<OperationQueue>?) {
        guard let queue = queue?.takeUnretainedValue() else { return }
        let isGated = word.lifecycle.contains(.gated)
        queue.push(self, last: nil)
        // What is kept for it must not wait until the queue has room: whoever has the lock sees to that.
        if isGated { queue.takeIn() }
    }

    // MARK: - Dependencies

    final func depend(on dependency: Operation) throws(OperationError) {
        guard dependency !== self else { throw .dependsOnItself(operation: label) }
        // In a large graph nearly all the time goes into waiting for memory, of which the dependency's is fetched while
        // this operation's is used.
        cplatform_prefetch(Unmanaged.passUnretained(dependency).toOpaque())
        let attachments = ownAttachments
        dependency.followPaths()
        // One that has finished, also by its own word only, holds nothing back (rule D3).
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

    /// Remembers a dependent; false when this operation has finished, and the dependent need not wait.
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
        // The finisher's step to `finishing` and this bit are ordered by the word: either it sees the bit and tells the
        // dependent, or this thread sees the phase and says so itself. Both may happen; being told twice is harmless.
        return word.insert(.hasDependents).phase.rawValue < Lifecycle.Phase.finishing.rawValue
    }

    /// Tells every dependent that this operation has finished. Part of step 4.
    final func tellDependents() {
        // Swapped out, not copied: nothing is retained.
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
    /// A dependency of this operation has finished.
    fileprivate func finished(_ dependency: Operation) {
        var observed: Operation?
        var unqueued: Unmanaged<Operation>?
        #if DEBUG
        // A debug build counts references that an optimized one does not; the last must not be released under the lock.
        var kept: Unmanaged<Operation>?
        defer { kept?.release() }
        #endif
        let asker: Operation? = withLock { state in
            guard state.readiness.finished(dependency), let operation = state.operation else { return nil }
            #if DEBUG
            kept = Operation.retainedIfAlive(operation)
            guard kept != nil else { return nil }
            #endif
            // Under the lock, which `deinit` needs, the memory of the operation is there; beyond it only the pin that
            // `ask` makes, or the count of a reference, keeps it.
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
        // First told, then acted upon.
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
    /// A reference of the caller's own, unless the last one has gone. The memory has to be there, which `deinit` cannot
    /// leave without the lock of the attachments.
    fileprivate static func retainedIfAlive(_ operation: Unmanaged<Operation>) -> Unmanaged<Operation>? {
        cplatform_try_retain(operation.toOpaque()).map { Unmanaged.fromOpaque($0) }
    }
}

extension Attachments.State {
    fileprivate var areDependenciesObserved: Bool { isObserved && observers.isObserved(.name("dependencies")) }

    /// The dependencies before and after a change; made only if somebody observes them.
    fileprivate func dependencies(
        replacing old: (ArraySlice<Operation>) -> ArraySlice<Operation>
    ) -> (old: [Operation], new: [Operation]) {
        guard areDependenciesObserved else { return ([], []) }
        let new = readiness.dependencies
        return (Array(old(new[...])), new)
    }

    /// Keeps a dependent. Those that are gone or stand here twice are removed whenever the number has doubled, and answered.
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
