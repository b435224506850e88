import KeyValueObserving
import SchedulerCore
import Synchronization

/// A reporter of a queue's progress. `OperationsFoundation` implements it.
package protocol ProgressReporter: AnyObject, Sendable {
    /// `main()` of an operation of the queue is about to run on this thread.
    func willRunMain(of operation: Operation)
    /// `main()` has returned, on the same thread.
    func didRunMain(of operation: Operation)
    /// The task of an async operation of the queue is about to do its work.
    func willRunTask(of operation: Operation)
    /// The task has done its work.
    func didRunTask(of operation: Operation)
    /// The queue belongs to a group, which has this many children now.
    func childrenCounted(added: Int, ended: Int)
    /// The queue is being deallocated.
    func queueIsGone()
}

/// A watcher of a queue's operations. Called without a lock, on the thread of the event.
package protocol QueueWatcher: AnyObject, Sendable {
    func operation(_ operation: Operation, did step: QueueStep)
    /// The queue holds operations none of which can start.
    func queueStalled(_ report: StallReport)
    /// The watcher was removed, and is not called any more.
    func wasRemoved()
}

extension QueueWatcher {
    package func queueStalled(_ report: StallReport) {}
    package func wasRemoved() {}
}

/// A step of an operation for a watcher. The steps of an operation that occur come in this order.
package enum QueueStep: Sendable {
    /// The operation is about to be added to the queue.
    case wasAdded
    /// The operation is about to start.
    case starts
    /// The operation has finished, and is about to leave the queue.
    case hasFinished
}

/// An interceptor that runs code around the work of a queue's operations, on the thread or in the task of the work.
package protocol QueueInterceptor: AnyObject, Sendable {
    /// Calls `work`, the operation's `main()`, once.
    func perform(_ operation: Operation, _ work: () -> Void)

    /// Calls `work`, the work of an async operation, once.
    nonisolated(nonsending)
        func perform(_ operation: Operation, _ work: nonisolated(nonsending) () async throws -> Void) async throws
}

/// The optional extensions of a queue. Most queues have none, and then pay a load at each place that may use one. So does a queue
/// whose hooks had watchers only, and have none any more.
final class QueueHooks: Sendable {
    let reporter = LazyReference<InstalledReporter>()
    private let uses = Locked(Uses())
    private let hasWatchers = Atomic(false)
    fileprivate let interceptorReference = LazyReference<InstalledInterceptor>()
    let priorityPolicy = Locked(OperationQueue.PriorityPolicy.default)
    /// Replaced as a whole. ThreadSanitizer does not see the reference counts by which a change in place knows that no reader has the
    /// array.
    private let additions = Locked<[any AdditionPolicy]>([])
    private let hasAdditions = Atomic(false)
    /// The number of operations that the queue has refused.
    let refusals = Atomic(0)
    let deadline = Locked<QueueDeadline?>(nil)
    let longRunning = Locked(LongRunningSetting())
    let failureHandler = Locked<(@Sendable (UnhandledFailure) -> Void)?>(nil)

    private struct Listed: Identifiable {
        let watcher: any QueueWatcher
        var id: ObjectIdentifier { ObjectIdentifier(watcher) }
    }

    /// The reasons to ask the hooks.
    private struct Uses {
        var watchers = RemovableList<Listed>()
        /// Whether there may be something other than watchers.
        var isPermanent = false
    }

    var additionPolicies: [any AdditionPolicy] {
        hasAdditions.load(ordering: .sequentiallyConsistent) ? additions.withLock { $0 } : []
    }

    /// Adds a policy, unless there is one of its type. Returns the policy of this type.
    ///
    /// - Parameter comesFirst: Whether the policy is asked before the others, so that those change nothing if it refuses.
    @discardableResult
    func addIfNone<Policy: AdditionPolicy>(_ new: Policy, comesFirst: Bool = false) -> Policy {
        additions.withLock { policies in
            for case let known as Policy in policies { return known }
            policies = comesFirst ? [new] + policies : policies + [new]
            hasAdditions.store(true, ordering: .sequentiallyConsistent)
            return new
        }
    }

    /// Removes the policy of a type.
    func removeAdditionPolicy<Policy: AdditionPolicy>(_ type: Policy.Type) {
        let removed = additions.withLock { policies in
            defer { policies = policies.filter { !($0 is Policy) } }
            return policies.filter { $0 is Policy }
        }
        withExtendedLifetime(removed) {}
    }

    var interceptor: (any QueueInterceptor)? { interceptorReference.load()?.interceptor }

    /// Has the reference return these hooks from now on.
    func useForever(by reference: borrowing ToggledReference<QueueHooks>) {
        uses.withLock { uses in
            uses.isPermanent = true
            reference.setUsed(true)
        }
    }

    func add(_ watcher: any QueueWatcher, using reference: borrowing ToggledReference<QueueHooks>) {
        uses.withLock { uses in
            uses.watchers.append(Listed(watcher: watcher))
            hasWatchers.store(true, ordering: .releasing)
            reference.setUsed(true)
        }
    }

    var watcherCount: Int { uses.withLock { $0.watchers.count } }

    func remove(_ watcher: any QueueWatcher, using reference: borrowing ToggledReference<QueueHooks>) {
        // The caller holds the watcher, so no `deinit` runs under the lock.
        uses.withLock { uses in
            uses.watchers.remove(ObjectIdentifier(watcher))
            // With the lock, so that the watcher of an addition at the same time is not missed.
            hasWatchers.store(uses.watchers.count > 0, ordering: .releasing)
            if uses.watchers.count == 0, !uses.isPermanent { reference.setUsed(false) }
        }
        watcher.wasRemoved()
    }

    func notify(_ report: StallReport) {
        HeldLocks.assertNone()
        uses.withLock { $0.watchers }.forEach { $0.watcher.queueStalled(report) }
    }

    func notify(_ step: QueueStep, of operation: Operation) {
        guard hasWatchers.load(ordering: .acquiring) else { return }
        HeldLocks.assertNone()
        uses.withLock { $0.watchers }.forEach { $0.watcher.operation(operation, did: step) }
    }
}

extension OperationQueue {
    /// The reporter of the queue's progress; nil for most queues.
    package final var progressReporter: (any ProgressReporter)? { hooks.load()?.reporter.load()?.reporter }

    /// Installs a reporter, unless there is one. Returns the installed one.
    package final func installProgressReporter(_ reporter: any ProgressReporter) -> any ProgressReporter {
        ownHooks.reporter.storeIfNil(InstalledReporter(reporter)).reporter
    }

    /// Adds a watcher of operations that are added from now on. The queue holds the watcher.
    package final func addWatcher(_ watcher: any QueueWatcher) {
        hooks.kept(orNew: QueueHooks.init).add(watcher, using: hooks)
    }

    /// The number of watchers.
    package final var watcherCount: Int { hooks.kept?.watcherCount ?? 0 }

    package final func removeWatcher(_ watcher: any QueueWatcher) { hooks.kept?.remove(watcher, using: hooks) }

    /// Installs an interceptor, unless there is one. Returns the installed one.
    package final func installInterceptor(_ interceptor: any QueueInterceptor) -> any QueueInterceptor {
        ownHooks.interceptorReference.storeIfNil(InstalledInterceptor(interceptor)).interceptor
    }

    /// Called for an operation that is going to be added.
    @inline(never)
    final func noteAddition(of operation: Operation) {
        if !operation.word.lifecycle.contains(.unlisted) { notifyWatchers(.wasAdded, of: operation) }
        for policy in additionPolicies { policy.willAdd(operation, to: self) }
    }

    /// Called for an operation that has claimed its end, and is going to leave.
    @inline(never)
    final func noteEnd(of operation: Operation, _ lifecycle: Lifecycle) {
        if !lifecycle.contains(.unlisted) {
            notifyWatchers(.hasFinished, of: operation)
        } else if lifecycle.contains(.barrier) {
            longRunningWatch?.operation(operation, did: .hasFinished)
        }
        if lifecycle.contains(.hasFailed) { operation.keepFailureHandler(of: self) }
    }

    @inline(__always)
    final func notifyWatchers(_ step: QueueStep, of operation: Operation) {
        if hooks.isSet { hooks.load()?.notify(step, of: operation) }
    }

    /// The hooks for something other than a watcher. They stay in use.
    final var ownHooks: QueueHooks {
        let own = hooks.kept(orNew: QueueHooks.init)
        own.useForever(by: hooks)
        return own
    }
}

/// A reporter as a class instance, so that the queue can keep it without a lock.
final class InstalledReporter: Sendable {
    let reporter: any ProgressReporter

    init(_ reporter: any ProgressReporter) { self.reporter = reporter }

    // The program may hold the reporter for longer than the queue.
    deinit { reporter.queueIsGone() }
}

/// An interceptor as a class instance, so that the queue can keep it without a lock.
private final class InstalledInterceptor: Sendable {
    let interceptor: any QueueInterceptor

    init(_ interceptor: any QueueInterceptor) { self.interceptor = interceptor }
}
