import Synchronization

/// Who keeps a queue's progress. The place where `OperationsFoundation` joins the flow.
package protocol ProgressReporter: AnyObject, Sendable {
    /// `main()` of an operation of the queue is about to run on this thread.
    func willRunMain(of operation: Operation)
    /// It has returned, on the same thread.
    func didRunMain(of operation: Operation)
    /// The task of an async operation of the queue is about to do its work.
    func willRunTask(of operation: Operation)
    /// It has done it.
    func didRunTask(of operation: Operation)
    /// The queue is that of a group, which has so many children now.
    func childrenCounted(added: Int, ended: Int)
}

/// Who wants to know what becomes of a queue's operations. Called without a lock, on the thread on which it happens.
package protocol QueueWatcher: AnyObject, Sendable {
    func operation(_ operation: Operation, did step: QueueStep)
    /// The queue holds operations none of which can start.
    func queueStalled(_ report: StallReport)
    /// It is to hear nothing more.
    func wasRemoved()
}

extension QueueWatcher {
    package func queueStalled(_ report: StallReport) {}
    package func wasRemoved() {}
}

/// What a watcher is told. Of one operation, in this order, as far as it comes to that.
package enum QueueStep: Sendable {
    /// It is about to be seen by the queue.
    case wasAdded
    /// It is about to start.
    case starts
    /// It has finished, and is about to leave the queue.
    case hasFinished
}

/// Who has something to do around the work of a queue's operations, on the thread or in the task that does it.
package protocol QueueInterceptor: AnyObject, Sendable {
    /// Calls `work`, the operation's `main()`, once.
    func perform(_ operation: Operation, _ work: () -> Void)

    /// Calls `work`, what an async operation does, once.
    nonisolated(nonsending)
        func perform(_ operation: Operation, _ work: nonisolated(nonsending) () async throws -> Void) async throws
}

/// What has been hung into a queue. Most queues have none, and then pay a load for each place where there could be some.
final class QueueHooks: Sendable {
    let reporter = LazyReference<InstalledReporter>()
    private let watchers = Locked<[any QueueWatcher]>([])
    private let hasWatchers = Atomic(false)
    private let interceptorReference = Locked<(any QueueInterceptor)?>(nil)
    private let hasInterceptor = Atomic(false)
    let priorityPolicy = Locked(OperationQueue.PriorityPolicy.documented)
    private let inherits = Atomic(false)
    private let handler = Locked<(@Sendable (UnseenFailure) -> Void)?>(nil)

    var failureHandler: (@Sendable (UnseenFailure) -> Void)? { handler.withLock { $0 } }

    func setFailureHandler(_ new: (@Sendable (UnseenFailure) -> Void)?) {
        let old = handler.withLock { handler in
            let old = handler
            handler = new
            return old
        }
        withExtendedLifetime(old) {}
    }

    /// Its operations stand as high as what waits for them.
    var inheritsPriority: Bool { inherits.load(ordering: .sequentiallyConsistent) }

    func set(_ policy: OperationQueue.PriorityPolicy) {
        priorityPolicy.withLock { $0 = policy }
        inherits.store(policy.inheritsPriority, ordering: .sequentiallyConsistent)
    }

    var interceptor: (any QueueInterceptor)? {
        hasInterceptor.load(ordering: .acquiring) ? interceptorReference.withLock { $0 } : nil
    }

    /// Answers the one there was.
    func setInterceptor(_ new: any QueueInterceptor) -> (any QueueInterceptor)? {
        let old = interceptorReference.withLock { interceptor in
            let old = interceptor
            interceptor = new
            return old
        }
        hasInterceptor.store(true, ordering: .releasing)
        return old
    }

    func add(_ watcher: any QueueWatcher) {
        watchers.withLock { $0.append(watcher) }
        hasWatchers.store(true, ordering: .releasing)
    }

    var watcherCount: Int { watchers.withLock { $0.count } }

    func remove(_ watcher: any QueueWatcher) {
        let old = watchers.withLock { watchers in
            let old = watchers
            watchers.removeAll { $0 === watcher }
            return old
        }
        withExtendedLifetime(old) {}
        watcher.wasRemoved()
    }

    func tell(_ report: StallReport) {
        HeldLocks.assertNone()
        for watcher in watchers.withLock({ $0 }) { watcher.queueStalled(report) }
    }

    func tell(_ step: QueueStep, of operation: Operation) {
        guard hasWatchers.load(ordering: .acquiring) else { return }
        HeldLocks.assertNone()
        for watcher in watchers.withLock({ $0 }) { watcher.operation(operation, did: step) }
    }
}

extension OperationQueue {
    /// Who keeps the queue's progress; nil for most queues.
    package final var progressReporter: (any ProgressReporter)? { hooks.load()?.reporter.load()?.reporter }

    /// Installs a reporter, unless there is one. Answers the one there is.
    package final func installProgressReporter(_ reporter: any ProgressReporter) -> any ProgressReporter {
        ownHooks.reporter.storeIfNil(InstalledReporter(reporter)).reporter
    }

    /// Tells the watcher of everything that begins from now on. It is held.
    package final func addWatcher(_ watcher: any QueueWatcher) { ownHooks.add(watcher) }

    /// How many watchers there are.
    package final var watcherCount: Int { hooks.load()?.watcherCount ?? 0 }

    package final func removeWatcher(_ watcher: any QueueWatcher) { hooks.load()?.remove(watcher) }

    /// Puts an interceptor in the place of the one there is, which it answers.
    package final func setInterceptor(_ interceptor: any QueueInterceptor) -> (any QueueInterceptor)? {
        ownHooks.setInterceptor(interceptor)
    }

    @inline(__always)
    final func tellWatchers(_ step: QueueStep, of operation: Operation) {
        if hooks.isSet { hooks.load()?.tell(step, of: operation) }
    }

    final var ownHooks: QueueHooks { hooks.load() ?? hooks.storeIfNil(QueueHooks()) }
}

/// A reporter as a class instance, so that it can be kept without a lock.
final class InstalledReporter: Sendable {
    let reporter: any ProgressReporter

    init(_ reporter: any ProgressReporter) { self.reporter = reporter }
}
