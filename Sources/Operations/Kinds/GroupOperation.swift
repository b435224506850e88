import SchedulerCore

/// An operation made of other operations. The children run in a queue of the group. The group finishes after its last
/// child.
///
/// Children can be added until the group finishes, also by other children. The group holds one slot of its queue, and its
/// children use none. The group's `maxConcurrentOperationCount` limits how many children run at a time. The children
/// start when the group starts. Cancelling the group cancels its children. The `policy` decides about a group whose child
/// fails.
///
/// ```swift
/// let group = GroupOperation(policy: .failFast) {
///     [fetch, parse, store]
/// }
/// ```
open class GroupOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: `children` is a lock, the other properties are constant.

    /// A rule for the outcome of a group, and for the other children when a child ends.
    public enum Policy: Sendable {
        /// When a child fails, the group cancels the other children and fails with that error.
        case failFast
        /// All children run. Then the group fails with a `GroupFailure` if any child failed.
        case waitForAll
        /// When a child succeeds, the group cancels the other children. If no child succeeds, the group fails with a
        /// `GroupFailure`.
        case firstSuccess
    }

    /// The rule for the outcome of the group.
    public final let policy: Policy
    package final let childQueue = OperationQueue(kind: .unplaced)
    private final let children = Locked(Children())
    /// The identity of the group in `GroupNesting`.
    private final let nestingID = GroupNesting.makeID()

    private struct Children {
        var unfinished = 0
        var count = 0
        /// The children whose addition has begun, and may still be refused.
        var entering = 0
        /// Whether no child can be added any more.
        var isClosed = false
        var hasEnded: UnsafeContinuation<Void, Never>?
        var failures: [GroupFailure.Failure] = []
        var hasSuccess = false
        /// Whether the policy has decided, and cancelled the other children.
        var isDecided = false
        /// Whether the group has started.
        var hasBegun = false
        /// Whether no child is to start for the time being.
        var isPaused = false
        /// Whether all children are to end, regardless of the other fields.
        var areDismissed = false

        var mayStart: Bool { areDismissed || hasBegun && !isPaused }
    }

    /// Creates a group without children. Children can be added later.
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

    /// Creates a group with children.
    public convenience init(policy: Policy = .failFast, _ children: () -> [Operation]) {
        self.init(policy: policy)
        for child in children() { addChild(child) }
    }

    /// The largest number of children that run at a time. See `OperationQueue`.
    public final var maxConcurrentOperationCount: Int {
        get { childQueue.maxConcurrentOperationCount }
        set { childQueue.maxConcurrentOperationCount = newValue }
    }

    /// Adds a child.
    ///
    /// The call stops the process if the group has finished, or if the child is in a queue, executes or has finished.
    /// ``tryAddChild(_:)`` throws an error instead.
    public final func addChild(_ child: Operation) {
        stopOnMisuse { () throws(OperationError) in try tryAddChild(child) }
    }

    /// Adds a child, and throws an error on misuse.
    ///
    /// - Throws: `OperationError`. The call has changed nothing then.
    public final func tryAddChild(_ child: Operation) throws(OperationError) {
        guard child !== self else { throw .groupContainsItself(group: label) }
        // Counted first, so that the group cannot finish while a child is being added.
        let isOpen = children.withLock { children in
            if !children.isClosed {
                children.unfinished += 1
                children.count += 1
                children.entering += 1
            }
            return !children.isClosed
        }
        guard isOpen else { throw .addedToFinishedGroup(operation: child.label, group: label) }
        let context = ThreadContext.current
        let outer = context.enteringChild
        context.enteringChild = ObjectIdentifier(child)
        defer { context.enteringChild = outer }
        // For a child that is a group: the entry in `GroupNesting` that this call has made, and removes if the addition fails.
        var nesting: (inner: UInt64, number: UInt64)?
        do {
            // A child of a group that was cancelled, or whose policy has decided, is cancelled before it can start.
            try childQueue.add(child) { () throws(OperationError) in
                // Two threads may add the same group to two groups. Only the thread that has claimed it gets here.
                guard let inner = child as? GroupOperation else { return }
                guard let number = GroupNesting.nest(inner.nestingID, in: nestingID) else {
                    throw .groupContainsItself(group: label)
                }
                nesting = (inner.nestingID, number)
            } prepare: {
                if !takesChildren { child.cancel() }
            }
        } catch {
            if let nesting { GroupNesting.withdraw(nesting.number, of: nesting.inner) }
            childHasEnded(nil)
            throw error
        }
        children.withLock { $0.entering -= 1 }
        // The group may have been placed during the addition.
        childWaits(child)
        // The group may have been cancelled, or its policy may have decided, during the addition.
        if !takesChildren { child.cancel() }
        reportCounts()
        waitsNow(for: child)
    }

    /// Passes the threads of the group on to a child.
    private final func childWaits(_ child: Operation) {
        child.notifyGatesOfWait(in: childQueue)
        (child as? AsyncOperation)?.placeInnerQueues(in: childQueue)
    }

    /// Counts an operation that a child adds to `OperationQueue.current`, which is the queue of the children.
    fileprivate final func operationEnters(_ operation: Operation) {
        guard ThreadContext.current.enteringChild != ObjectIdentifier(operation) else { return }
        children.withLock { children in
            children.unfinished += 1
            children.count += 1
        }
        operationStarts(operation)
        reportCounts()
    }

    /// Cancels an operation that the cancellation of all children has missed, because it was being added.
    fileprivate final func operationStarts(_ operation: Operation) {
        if !takesChildren, !untracked({ operation.isCancelled }) { operation.cancel() }
    }

    private final var takesChildren: Bool { !isCancelled && !children.withLock { $0.isDecided } }

    /// Adds an async closure as a child. See `OperationQueue.addTask`.
    @discardableResult
    public final func addChildTask<Success: Sendable>(
        name: String? = nil, _ body: @escaping @Sendable () async throws -> Success
    ) -> TaskOperation<Success> {
        let child = TaskOperation(body)
        if let name { child.name = name }
        addChild(child)
        return child
    }

    /// Runs the children. A subclass may add children before it calls super. If an override never calls super, the
    /// children are cancelled.
    open override func run() async throws {
        if let name { childQueue.name = name }
        passOnQuality(to: childQueue)
        steer { $0.hasBegun = true }
        await untilLastHasEnded()
        let (failures, hasSuccess, count) = children.withLock { ($0.failures, $0.hasSuccess, $0.count) }
        switch policy {
        case .failFast: if let first = failures.first { throw first.error }
        case .waitForAll: if !failures.isEmpty { throw GroupFailure(failures: failures) }
        case .firstSuccess: if !hasSuccess, count > 0, !isCancelled { throw GroupFailure(failures: failures) }
        }
    }

    /// Closes the group, and suspends until its last child has ended.
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

    /// Cancels the group and its children. The children of a group that waits in a queue end at once.
    ///
    /// The children of a group that is in no queue end when the group is added to a queue, is started or is released.
    open override func cancel() {
        super.cancel()
        dismissChildren()
    }

    /// Always true: a group that was cancelled before its start waits for its children, which end without running.
    override var startsCancelled: Bool { true }

    nonisolated(nonsending)
        override func work() async throws
    {
        placeIfMissed()
        if childQueue.becomePlaced() { unfinishedParts.forEach(childWaits) }
        do {
            if isCancelled { runWasSkipped() } else { try await run() }
        } catch {
            await close()
            throw error
        }
        await close()
    }

    /// Ends the remaining children as cancelled, and closes the group. Called when the group was cancelled before its
    /// start, or when an override of `run()` has not called super.
    private final func close() async {
        guard !children.withLock({ $0.isClosed }) else { return }
        dismissChildren()
        await untilLastHasEnded()
    }

    /// Ends the children, because the group will not run: its end was announced early.
    override func releaseWork() {
        children.withLock { $0.isClosed = true }
        childQueue.becomePlaced()
        dismissChildren()
        super.releaseWork()
    }

    /// Ends all children as cancelled, so that no caller waits for them forever.
    ///
    /// Children may be groups. The children of a few levels are dismissed when this function returns. The children of
    /// deeper levels are dismissed when the outermost call returns.
    private final func dismissChildren() {
        // Without a reference to the group, which may be in its `deinit`.
        Descent.step { [childQueue, children] in
            childQueue.cancelAllOperations()
            Self.steer(childQueue, children) { $0.areDismissed = true }
        }
    }

    private final func steer(_ change: (inout Children) -> Void) { Self.steer(childQueue, children, change) }

    /// Starts or holds back the children. Of several threads, the last change determines the result.
    private static func steer(
        _ childQueue: OperationQueue, _ children: Locked<Children>, _ change: (inout Children) -> Void
    ) {
        children.withLock { change(&$0) }
        // Before the group is in a queue, the threads for the end of a child are not known.
        func readMayStart() -> Bool { children.withLock { $0.mayStart } && childQueue.isPlaced }
        var mayStart = readMayStart()
        while true {
            childQueue.isSuspended = !mayStart
            let known = mayStart
            mayStart = readMayStart()
            if mayStart == known { return }
        }
    }

    /// Pauses the group: no child starts while the group is paused. Children that execute continue.
    open override func pause() {
        super.pause()
        steer { $0.isPaused = true }
    }

    /// Ends the pause of the group.
    open override func resume() {
        steer { $0.isPaused = false }
        super.resume()
    }

    override var innerQueue: OperationQueue? { childQueue }

    override func innerQueueIsPlaced() { steer { _ in } }

    // MARK: - Children

    /// The operations that the group waits for, including its children.
    override var operationsWaitedFor: [Operation] { super.operationsWaitedFor + unfinishedParts }

    /// The number of children that were added, and the number of children that have ended.
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

    /// The children that have not finished.
    final override var unfinishedParts: [Operation] { childQueue.listed() }

    /// Counts a child that has ended. nil: the child was refused, and is not counted any more.
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

/// A watcher that notifies a group when a child has ended.
private final class ChildWatcher: QueueWatcher {
    // Weak: the children of a group that was released without running end after the group.
    private weak let group: GroupOperation?

    init(_ group: GroupOperation) { self.group = group }

    func operation(_ operation: Operation, did step: QueueStep) {
        switch step {
        case .wasAdded: group?.operationEnters(operation)
        case .starts: group?.operationStarts(operation)
        case .hasFinished: group?.childHasEnded(operation)
        }
    }
}

/// The failure of a group: the failures of its children.
public struct GroupFailure: Error, CustomStringConvertible {
    /// The failure of one child.
    public struct Failure: Sendable {
        /// The type of the child, and its name or address.
        public let operation: String
        /// The error of the child.
        public let error: any Error
    }

    /// The failures, in the order in which the children ended.
    public let failures: [Failure]

    public var description: String {
        "\(failures.count) children of the group failed: "
            + failures.map { "\($0.operation): \($0.error)" }.joined(separator: "; ")
    }
}
