// Dependencies, beside the five steps. A dependency is an `Edge`. The list of the dependent has the edge, and so has the
// stack of the dependency. The table in the article Architecture says when each of the two drops it.

import CPlatform
@_spi(Hosting) import KeyValueObserving
import SchedulerCore

extension Operation {
    final func depend(on dependency: Operation) throws(OperationError) {
        guard dependency !== self else { throw .dependsOnItself(operation: label) }
        // In a large graph most of the time is spent waiting for memory. The memory of the dependency is fetched while
        // the memory of this operation is used.
        cplatform_prefetch(Unmanaged.passUnretained(dependency).toOpaque())
        dependency.followPaths()
        // A dependency that has finished, also only by its overridden `isFinished`, delays no operation (rule D3).
        let isFinished = dependency.asked {
            $0.isFinished
        } else: {
            dependency.isFinished
        }
        // The word does not show that an operation with its own `start()` was started by hand.
        let hasStarted = asked {
            $0.hasStarted
        } else: {
            isExecuting
        }
        let isOpen = !isFinished && !hasStarted
        if isOpen, dependEarly(on: dependency) { return }
        let edge = Edge(of: self, on: dependency, holds: false)
        var (isAdded, isHeld, isFirst) = (false, false, false)
        takingBackCounts { counts in
            exchange([.dependencies]) {
                guard isHeld else { return }
                dependency.adopt(edge)
                waitsNow(for: dependency)
                if isFirst { announceReadiness() }
                reconsiderReadiness()
            } _: { state -> Dependencies? in
                counts = state.dependencies.sort()
                guard state.dependencies.add(edge) else { return nil }
                isAdded = true
                if isOpen, let old = word.update({ $0.heldByOneMore() }) {
                    edge.hold()
                    isHeld = true
                    isFirst = old.unfinished == 0
                }
                return state.dependencies(replacing: { $0.dropLast() })
            }
        }
        guard !isAdded else { return }
        _ = edge.dropFromList()
        Unmanaged.passUnretained(dependency).release()
    }

    /// Adds an unfinished dependency to an operation in no queue, without attachments and so without a lock. False: this
    /// is not possible, and nothing has changed.
    ///
    /// Four exchanges and no search: the reference to the dependency, the count, the list, the stack.
    ///
    /// A dependency that is added twice has two edges until the dependencies are sorted. Both end together. The number of
    /// repeated edges is limited, because only few dependencies are added in this way.
    @inline(__always)
    private final func dependEarly(on dependency: Operation) -> Bool {
        guard !attachmentsReference.isSet, !Self.waitsAreFollowed else { return false }
        // Counted before another thread can find the edge, and remove it.
        guard word.update({ $0.heldByOneMoreOfFew() }) != nil else { return false }
        let edge = Edge(of: self, on: dependency, holds: true)
        guard attachmentsReference.push(edge) else {
            takeBackEarly(edge, dependency)
            return false
        }
        dependency.adopt(edge)
        reconsiderReadiness()
        announcedDependents(of: [.dependencies])
        return true
    }

    /// Undoes the count, because another thread has created attachments. The operation may be in a queue by now.
    @inline(never)
    private final func takeBackEarly(_ edge: Edge, _ dependency: Operation) {
        if edge.dropFromStack() != nil { word.update { $0.heldByOneLess() } }
        _ = edge.dropFromList()
        Unmanaged.passUnretained(dependency).release()
        announceReadiness()
        reconsiderReadiness()
    }

    final func stopDepending(on dependency: Operation) {
        guard attachmentsReference.isUsed else { return }
        var removed: Edge?
        var (wasHeld, wasLast) = (false, false)
        takingBackCounts { counts in
            exchange([.dependencies]) {
                if wasLast { announceReadiness() }
                guard wasHeld || !isPlainBlock else { return }
                reconsiderReadiness()
                askThoughUnqueued()
            } _: { state -> Dependencies? in
                counts = state.dependencies.sort()
                let old = state.areDependenciesObserved ? state.dependencies.dependencies : []
                guard let edge = state.dependencies.remove(dependency) else { return nil }
                removed = edge
                wasHeld = edge.dropFromList()
                if wasHeld { wasLast = word.update { $0.heldByOneLess() }?.unfinished == 1 }
                return state.dependencies(replacing: { _ in old[...] })
            }
        }
        if removed != nil { Unmanaged.passUnretained(dependency).release() }
    }

    private typealias Dependencies = (old: [Operation], new: [Operation])

    /// Calls `body` with the dependencies under the lock of the attachments. nil: the operation has none.
    final func withDependencies<Result>(_ body: (DependencyList) -> Result) -> Result? {
        guard attachmentsReference.isUsed else { return nil }
        var result: Result?
        takingBackCounts { counts in
            result = ownAttachments.withLock { state in
                counts = state.dependencies.sort()
                return body(state.dependencies)
            }
        }
        return result
    }

    /// Decrements the count for the edges of repeated dependencies that `body` has dropped.
    @inline(__always)
    private final func takingBackCounts(_ body: (inout UInt32) -> Void) {
        var counts: UInt32 = 0
        body(&counts)
        if counts > 0 { takeBack(counts) }
    }

    /// The dependencies themselves may have finished meanwhile. Then the repeated edges were the last ones.
    @inline(never)
    private final func takeBack(_ counts: UInt32) {
        for _ in 0..<counts { word.update { $0.heldByOneLess() } }
        announceReadiness()
        reconsiderReadiness()
    }

    /// The number of operations that wait for the end of this one. O(dependents).
    final var dependentCount: Int {
        guard dependents.isUsed else { return 0 }
        let (count, unsaved) = dependents.countWaiting()
        notifyAll(unsaved)
        return count
    }

    /// Records a dependent, or notifies it, because this operation has finished.
    private final func adopt(_ edge: Edge) {
        let lifecycle = word.lifecycle
        guard !lifecycle.hasClaimedEnd else { return notify(edge) }
        switch dependents.push(edge) {
        case .pushed: break
        case .pushedAndDue: notifyAll(dependents.sweep())
        case .closed: return notify(edge)
        }
        // The word orders the finisher's step to `finishing` and this bit. Either the finisher sees the bit and notifies
        // the dependents, or this thread sees the phase and does so itself.
        if lifecycle.contains(.hasDependents) { return }
        if word.insert(.hasDependents).hasClaimedEnd { notifyDependents() }
    }
}

extension Attachments.State {
    fileprivate var areDependenciesObserved: Bool { observers.wasUsed && observers.isObserved(.name("dependencies")) }

    /// Returns the dependencies before and after a change; empty lists if no observer needs them.
    fileprivate func dependencies(
        replacing old: (ArraySlice<Operation>) -> ArraySlice<Operation>
    ) -> (old: [Operation], new: [Operation]) {
        guard areDependenciesObserved else { return ([], []) }
        let new = dependencies.dependencies
        return (Array(old(new[...])), new)
    }
}
