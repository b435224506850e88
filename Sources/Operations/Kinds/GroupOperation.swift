import SchedulerCore

/// An operation made of others: its children run in a queue of its own, and it has finished when the last of them has.
///
/// Children may be added until then, also by children. The group holds one slot of its queue; its children take none,
/// and run as many at a time as `maxConcurrentOperationCount` allows. They start when the group does. Cancelling the
/// group cancels them; what becomes of the group when one of them fails says its policy.
///
///     let group = GroupOperation(policy: .failFast) {
///         [fetch, parse, store]
///     }
open class GroupOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: `children` is a lock, the rest constant.

    /// What becomes of a group when a child ends.
    public enum Policy: Sendable {
        /// When a child fails, the others are cancelled, and the group fails with that error.
        case failFast
        /// All children run, and then the group fails with a `GroupFailure` if any failed.
        case supervise
        /// When a child succeeds, the others are cancelled. If none does, the group fails with a `GroupFailure`.
        case firstSuccess
    }

    /// What becomes of the group when a child ends.
    public final let policy: Policy
    package final let childQueue = OperationQueue(kind: .unplaced)
    private final let children = Locked(Children())
    /// By what `GroupNesting` knows the group.
    private final let nestingID = GroupNesting.makeID()

    private struct Children {
        var unfinished = 0
        var count = 0
        /// Those among them that are on their way in, and may be refused.
        var entering = 0
        /// Nothing can be added any more.
        var isClosed = false
        var hasEnded: UnsafeContinuation<Void, Never>?
        var failures: [GroupFailure.Failure] = []
        var hasSuccess = false
        /// The policy has decided, and cancelled the others.
        var isDecided = false
        /// The group has started.
        var hasBegun = false
        /// Nothing is to start for the time being.
        var isPaused = false
        /// All are to end, whatever else is the case.
        var areDismissed = false

        var mayStart: Bool { areDismissed || hasBegun && !isPaused }
    }

    /// A group without children, which may be added later.
    public init(policy: Policy = .failFast) {
        self.policy = policy
        super.init()
        childQueue.isSuspended = true
        childQueue.addWatcher(ChildWatcher(self))
        childQueue.setOwner(self)
    }

    deinit {
        GroupNesting.forget(nestingID)
        childQueue.becomePlaced()
        dismissChildren()
    }

    /// A group with children.
    public convenience init(policy: Policy = .failFast, _ children: () -> [Operation]) {
        self.init(policy: policy)
        for child in children() { addChild(child) }
    }

    /// How many children run at a time; see `OperationQueue`.
    public final var maxConcurrentOperationCount: Int {
        get { childQueue.maxConcurrentOperationCount }
        set { childQueue.maxConcurrentOperationCount = newValue }
    }

    /// Adds a child. Misuse when the group has finished (M10), and as for a queue (M2, M3).
    public final func addChild(_ child: Operation) {
        stopOnMisuse { () throws(OperationError) in try tryAddChild(child) }
    }

    /// `addChild` that throws misuse as an error and then has changed nothing.
    public final func tryAddChild(_ child: Operation) throws(OperationError) {
        guard child !== self else { throw .groupContainsItself(group: label) }
        // Counted first: the group cannot finish while a child is on its way in.
        let isOpen = children.withLock { children in
            if !children.isClosed {
                children.unfinished += 1
                children.count += 1
                children.entering += 1
            }
            return !children.isClosed
        }
        guard isOpen else { throw .addedToFinishedGroup(operation: child.label, group: label) }
        do {
            // Those that are added to a group that was cancelled, or has been decided, are cancelled before they can start.
            try childQueue.add(child, hasPlace: false) { () throws(OperationError) in
                // Two threads may add the same group to two others. Only the one that has claimed it comes here.
                guard let inner = child as? GroupOperation else { return }
                guard GroupNesting.nest(inner.nestingID, in: nestingID) else {
                    throw .groupContainsItself(group: label)
                }
            } prepare: {
                if !takesChildren { child.cancel() }
            }
        } catch {
            childHasEnded(nil)
            throw error
        }
        children.withLock { $0.entering -= 1 }
        // Meanwhile, perhaps.
        if !takesChildren { child.cancel() }
        reportCounts()
        if PriorityLending.isUsed { child.lend(word.lifecycle.lends) }
    }

    private final var takesChildren: Bool { !isCancelled && !children.withLock { $0.isDecided } }

    /// Adds an async closure as a child; see `OperationQueue.addTask`.
    @discardableResult
    public final func addChildTask<Success: Sendable>(
        name: String? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let child = TaskOperation(body)
        if let name { child.name = name }
        addChild(child)
        return child
    }

    /// Runs the children. A subclass may add some before it calls super; if it never does, they are cancelled.
    open override func run() async throws {
        if let name { childQueue.name = name }
        passOnQuality(to: childQueue)
        steer { $0.hasBegun = true }
        await untilLastHasEnded()
        let (failures, hasSuccess, count) = children.withLock { ($0.failures, $0.hasSuccess, $0.count) }
        switch policy {
        case .failFast: if let first = failures.first { throw first.error }
        case .supervise: if !failures.isEmpty { throw GroupFailure(failures: failures) }
        case .firstSuccess: if !hasSuccess, count > 0, !isCancelled { throw GroupFailure(failures: failures) }
        }
    }

    /// Closes the group.
    private final func untilLastHasEnded() async {
        await withUnsafeContinuation { continuation in
            let isEmpty = children.withLock { children in
                children.isClosed = children.unfinished == 0
                if !children.isClosed { children.hasEnded = continuation }
                return children.isClosed
            }
            if isEmpty { continuation.resume() }
        }
    }

    /// Cancels the group and its children. Those of a group that is in a queue and has not started end at once.
    ///
    /// Those of a group that is in no queue end as the group does (rule C4): when it is added to a queue, started or released.
    open override func cancel() {
        super.cancel()
        dismissChildren()
    }

    /// One that was cancelled before it starts waits for its children all the same, which end without having run.
    override var startsCancelled: Bool { true }

    nonisolated(nonsending)
        override func work() async throws
    {
        childQueue.becomePlaced()
        do { if !isCancelled { try await run() } } catch {
            await close()
            throw error
        }
        await close()
    }

    /// Lets what is left end, cancelled: the group was cancelled before its start, or an override of `run()` has not called
    /// super.
    private final func close() async {
        guard !children.withLock({ $0.isClosed }) else { return }
        dismissChildren()
        await untilLastHasEnded()
    }

    /// The group will not run: its end was announced early.
    override func releaseWork() {
        children.withLock { $0.isClosed = true }
        childQueue.becomePlaced()
        dismissChildren()
    }

    /// Lets all children end, cancelled, so that nothing waits for them for ever.
    ///
    /// Children may be groups. Those in a few levels are dismissed when this returns. Deeper ones are dismissed when the
    /// call that began it returns.
    private final func dismissChildren() {
        // Not by way of the group, which may be in its `deinit`.
        Descent.step { [childQueue, children] in
            childQueue.cancelAllOperations()
            Self.steer(childQueue, children) { $0.areDismissed = true }
        }
    }

    private final func steer(_ change: (inout Children) -> Void) { Self.steer(childQueue, children, change) }

    /// Lets children start or not, whoever says the last word.
    private static func steer(
        _ childQueue: OperationQueue, _ children: Locked<Children>, _ change: (inout Children) -> Void
    ) {
        children.withLock { change(&$0) }
        // Before the group is in a queue it is not known which threads may run a child's end.
        func readMayStart() -> Bool { children.withLock { $0.mayStart } && childQueue.isPlaced }
        var mayStart = readMayStart()
        while true {
            childQueue.isSuspended = !mayStart
            let known = mayStart
            mayStart = readMayStart()
            if mayStart == known { return }
        }
    }

    /// While true no child starts. The group's progress says so.
    package final func setPaused(_ isPaused: Bool) { steer { $0.isPaused = isPaused } }

    override var innerQueue: OperationQueue? { childQueue }

    override func innerQueueIsPlaced() { steer { _ in } }

    // MARK: - Children

    /// Its children, too.
    override var operationsWaitedFor: [Operation] { super.operationsWaitedFor + unfinishedChildren }

    /// How many were added so far, and how many of them have ended.
    package final var childCounts: (added: Int, ended: Int) {
        children.withLock { children in
            let ended = children.count - children.unfinished
            return (max(children.count - children.entering, ended), ended)
        }
    }

    private final func reportCounts() {
        guard let reporter = childQueue.progressReporter else { return }
        let (added, ended) = childCounts
        reporter.childrenCounted(added: added, ended: ended)
    }

    /// What is in the group and has not finished.
    final var unfinishedChildren: [Operation] { childQueue.listed() }

    /// nil: it was refused, and is none.
    fileprivate final func childHasEnded(_ child: Operation?) {
        if let inner = child as? GroupOperation { GroupNesting.leave(inner.nestingID, nestingID) }
        let outcome = child?.operationOutcome
        let failure: GroupFailure.Failure? =
            if case .failed(let error) = outcome, let child { .init(operation: child.label, error: error) } else { nil }
        let (continuation, mustCancel): (UnsafeContinuation<Void, Never>?, Bool) = children.withLock { children in
            if let failure { children.failures.append(failure) }
            if case .succeeded = outcome { children.hasSuccess = true }
            let decides = !children.isDecided && Self.decides(policy, outcome)
            if decides { children.isDecided = true }
            children.unfinished -= 1
            if child == nil {
                children.count -= 1
                children.entering -= 1
            }
            guard children.unfinished == 0, let continuation = children.hasEnded.take() else { return (nil, decides) }
            children.isClosed = true
            return (continuation, false)
        }
        if mustCancel { dismissChildren() }
        reportCounts()
        continuation?.resume()
    }

    private static func decides(_ policy: Policy, _ outcome: OperationOutcome?) -> Bool {
        switch (policy, outcome) {
        case (.failFast, .failed), (.firstSuccess, .succeeded): true
        default: false
        }
    }
}

/// Tells a group that a child has ended.
private final class ChildWatcher: QueueWatcher {
    // Weak: a group that is let go of without having run lets its children end after it.
    private weak let group: GroupOperation?

    init(_ group: GroupOperation) { self.group = group }

    func operation(_ operation: Operation, did step: QueueStep) {
        if step == .hasFinished { group?.childHasEnded(operation) }
    }
}

/// The failures of a group's children.
public struct GroupFailure: Error, CustomStringConvertible {
    /// One child's failure.
    public struct Failure: Sendable {
        /// Type and name, or address, of the child.
        public let operation: String
        public let error: any Error
    }

    /// In the order in which the children ended.
    public let failures: [Failure]

    public var description: String {
        "\(failures.count) of the group failed: "
            + failures.map { "\($0.operation): \($0.error)" }.joined(separator: "; ")
    }
}
