public import KeyValueObserving
public import Observation
public import SchedulerCore
import Synchronization

/// One unit of work that runs once: an abstract class.
///
/// Override ``main()`` for work that ends when `main()` returns. Override ``start()`` and the state properties for work
/// that ends later.
///
/// Every member is safe to call from any thread, without a lock of the caller. Reading a state costs an atomic load, and
/// a call that finds out whether the Observation framework tracks the read.
//
// This file has the contract of each member, and one line that calls the step of the flow, `add → ready → start → finish
// → complete`. The steps are in `Flow/`. An extension cannot declare `open` members that a class overrides, so all stand here.
open class Operation: ScheduleMember, KeyValueObservable, Observable, Hashable, CustomStringConvertible,
    CustomDebugStringConvertible, @unchecked Sendable
{
    // Sendable: `word`, `attachmentsReference` and `dependents` are atomic. The comments of the others name their guards.

    // The next three are behind the small fields of the base class. So a block operation is an allocation of 128 bytes, the
    // largest that the C library frees fast.

    /// The `Schedule.Service` of the operation, from the last value of `qualityOfService` that was read, and from the lent level.
    final let serviceIndex = Atomic<UInt8>(0)
    /// The level that waiters have lent, and the level of the queue. See `LevelLending`.
    final let levels = Atomic<UInt8>(0)
    /// Whether the operation is a block operation of the class itself. No member is overridden, so the word has the value of
    /// each state, and no code of the user runs in `start()` besides the blocks. Constant after `init`.
    @exclusivity(unchecked) final var isPlainBlock = false
    /// The phase, the cancellation, the priority, and the number of unfinished dependencies. See `Lifecycle`.
    final let word = Word()
    /// The dependencies, and the state that few operations need. See `Attachments`.
    final let attachmentsReference = AttachmentsReference()
    /// The operations that depend on this operation.
    final let dependents = DependentStack()
    /// The queue that the operation is or was in. Written in phase `entering`, before the word has the next phase;
    /// constant from phase `enqueued` on.
    @exclusivity(unchecked) final var queue: Unmanaged<OperationQueue>?
    /// The next operation in the inbox. Owned by the thread that set `inInbox`, then by the thread that drains the inbox.
    @exclusivity(unchecked) final var next: Unmanaged<Operation>?

    /// Creates an operation that is in no queue.
    public override init() { super.init() }

    deinit { abandon() }

    // MARK: - Running

    /// Begins the operation: runs `main()`, or skips it if the operation is cancelled, and then finishes.
    ///
    /// A queue calls this method on one of its threads. A call by hand runs the operation on the calling thread. An
    /// override does not call super, and announces `isExecuting` and `isFinished` itself.
    ///
    /// A call by hand stops the process if the operation executes, is in a queue or is not ready. ``tryStart()`` throws
    /// an error instead.
    open func start() { beginOrReport() }

    /// Starts the operation by hand, and throws an error on misuse.
    ///
    /// - Throws: `OperationError` when the operation executes, is in a queue or is not ready. The call has changed
    ///   nothing then.
    public final func tryStart() throws(OperationError) {
        try checkStartByHand()
        try startReportingMisuse()
    }

    /// The work of the operation. The default does nothing. An override does not call super.
    open func main() {}

    /// Requests the operation to stop. Running work is never stopped by force: it has to check ``isCancelled``.
    ///
    /// An operation that waits in a queue becomes ready at once, skips `main()` and finishes. A call after the end has no
    /// effect.
    open func cancel() { requestCancellation() }

    // MARK: - State

    /// Whether `cancel()` was called before the end of the operation. The value never returns to false.
    open var isCancelled: Bool {
        noteRead(\.isCancelled)
        return word.lifecycle.isCancelled
    }

    /// Whether the work of the operation runs.
    open var isExecuting: Bool {
        noteRead(\.isExecuting)
        return word.lifecycle.isExecuting
    }

    /// Whether the work has ended or was skipped. The value changes together with `isExecuting`.
    open var isFinished: Bool {
        noteRead(\.isFinished)
        return word.lifecycle.isFinished
    }

    /// Whether the operation may start: all dependencies are finished, or the operation is cancelled.
    ///
    /// An override combines its own condition with `super.isReady`, and announces changes.
    open var isReady: Bool {
        noteRead(\.isReady)
        return word.lifecycle.unfinished == 0 || isCancelled
    }

    /// Whether the work continues after `start()` returns. A queue ignores the value.
    open var isAsynchronous: Bool {
        noteRead(\.isAsynchronous)
        return followedIsConcurrent()
    }

    /// The former name of `isAsynchronous`. When only one of the two is overridden, the other follows it.
    @available(*, deprecated, renamed: "isAsynchronous")
    open var isConcurrent: Bool { followedIsAsynchronous() }

    // MARK: - Dependencies

    /// Makes this operation wait for another operation, in any queue or in none.
    ///
    /// The call has an effect until the operation starts, also while the operation waits for a slot. A dependency that is
    /// added twice counts once. O(1).
    ///
    /// The call stops the process if the operation would depend on itself. ``tryAddDependency(_:)`` throws an error
    /// instead.
    open func addDependency(_ op: Operation) { stopOnMisuse { () throws(OperationError) in try depend(on: op) } }

    /// Adds a dependency, and throws an error if the operation would depend on itself.
    ///
    /// - Throws: `OperationError.dependsOnItself`. The call has changed nothing then.
    public final func tryAddDependency(_ op: Operation) throws(OperationError) {
        guard op !== self else { throw .dependsOnItself(operation: label) }
        addDependency(op)
    }

    /// Removes a dependency. The operation becomes ready if this was its last unfinished dependency. O(1).
    open func removeDependency(_ op: Operation) { stopDepending(on: op) }

    /// The dependencies of the operation, finished or not, in the order added.
    open var dependencies: [Operation] {
        noteRead(\.dependencies)
        return withDependencies { $0.dependencies } ?? []
    }

    // MARK: - Priority and name

    /// The rank of the operation among the ready operations of its queue. A change takes effect at once.
    open var queuePriority: QueuePriority {
        get {
            noteRead(\.queuePriority)
            return QueuePriority(word.lifecycle.priority)
        }
        set { setPriority(newValue) }
    }

    /// The service level of the thread that runs the operation. The queue's level applies if it is higher, or if this
    /// property is not set.
    open var qualityOfService: QualityOfService {
        get {
            noteRead(\.qualityOfService)
            return QualityOfService(serviceIndex: word.lifecycle.serviceIndex)
        }
        set { setQualityOfService(newValue) }
    }

    /// A value from 0 to 1 without effect. The default is 0.5. Deprecated on every system.
    @available(*, deprecated, message: "Use qualityOfService")
    open var threadPriority: Double {
        get { attachments?.withLock { $0.extras?.threadPriority } ?? 0.5 }
        set { setThreadPriority(newValue) }
    }

    /// A label for people. It appears in `description`, logs and stall reports.
    open var name: String? {
        get {
            noteRead(\.name)
            return attachments?.withLock { $0.extras?.name }
        }
        set { setName(newValue) }
    }

    /// The type, the identity, the name and the state.
    open var description: String { describe() }

    /// The value of `description`, unless overridden.
    open var debugDescription: String { description }

    // MARK: - Completion and waiting

    /// A closure that runs once after `isFinished` has become true, also when the operation was cancelled.
    ///
    /// The closure runs on an arbitrary thread. The property is nil from the moment the closure begins. The closure and
    /// its captures are released when it has run. A closure that is set on a finished operation is kept and never runs.
    open var completionBlock: (@Sendable () -> Void)? {
        get {
            noteRead(\.completionBlock)
            return attachments?.withLock { $0.completionBlock }
        }
        set { setCompletionBlock(newValue) }
    }

    /// Blocks until the operation is finished and has left its queue.
    ///
    /// The call stops the process if an operation waits for itself. It also does so if the caller occupies a serial queue
    /// and waits for another operation of that queue. `tryWaitUntilFinished()` throws an error instead. A worker thread
    /// that waits here is replaced by another thread meanwhile.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    open func waitUntilFinished() { stopOnMisuse { () throws(OperationError) in _ = try waitForFinish() } }

    /// Blocks until the operation is finished and has left its queue, and throws an error on misuse.
    ///
    /// - Throws: `OperationError.waitsForItself` or `OperationError.waitsInsideSerialQueue`. The call has not waited
    ///   then.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    public final func tryWaitUntilFinished() throws(OperationError) {
        try checkWait()
        waitUntilFinished()
    }

    /// Blocks until the operation is finished and has left its queue, but not longer than a time. The operation is not cancelled.
    ///
    /// The call stops the process where `waitUntilFinished()` does.
    ///
    /// - Returns: Whether the operation was finished in time.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    public final func waitUntilFinished(timeout: Duration) -> Bool {
        stopOnMisuse { () throws(OperationError) in try waitForFinish(atMost: timeout.roundedUp) }
    }

    /// Does the work on this thread. False: the work continues after the return, and calls `endAnnounced` at its end.
    func perform() -> Bool {
        runMain()
        return true
    }

    /// Whether the operation has something to do even when it was cancelled before it started.
    var startsCancelled: Bool { false }

    /// Whether the operation has started and is paused since.
    var isStandingAside: Bool { false }

    /// Prepares the operation for a queue that it is about to join. Called by the adding thread, at least once.
    func prepare(for queue: Unmanaged<OperationQueue>) {}

    /// The operations that this operation waits for. They inherit its priority.
    var operationsWaitedFor: [Operation] { dependenciesAndAwaited }

    /// Raises the task of the operation to at least this priority, if the operation has a task.
    func raiseTask(to lane: PriorityLane) {}

    /// Raises the task of the operation, and its parts from now on, to at least this level, if the operation has a task.
    func raiseTask(to level: ServiceLevel) {}

    /// The executor of the tasks that are part of the operation; nil for an operation that is not async.
    var executorOfTask: UnownedTaskExecutor? { nil }

    /// Releases work that will not be done, because the operation finished without running the work (rule W5).
    func discardWork() {}

    // MARK: - Observing

    /// The observers of the operation, for `KeyValueObserving`. Use `observe`, `addObserver` or `values(for:)`.
    public final var keyValueRegistrar: KeyValueRegistrar { ownAttachments }

    /// The names of properties that a subclass adds, for string keys and key-value coding.
    open class var additionalKeyValueKeys: [KeyValueKey] { [] }

    /// Returns the names of properties, or paths of names, whose changes may change the property of this name.
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    // MARK: - Identity

    /// Whether the other object counts as equal. By default only this object itself does.
    ///
    /// `==` calls this method. The system itself distinguishes operations by identity and never calls it.
    open func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    /// A number that is equal for objects that count as equal. An override of `isEqual(_:)` overrides this property too.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    public static func == (a: Operation, b: Operation) -> Bool { a.isEqual(b) }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension Operation {
    /// Suspends until the operation is finished and has left its queue. No thread is blocked.
    ///
    /// If the task is cancelled and the work of the operation has not started, the call returns at once. The operation is not
    /// cancelled.
    ///
    /// The call stops the process if an operation waits for itself. It also does so if an async operation of a serial
    /// queue waits for another operation of that queue.
    public final func waitUntilFinished() async {
        do { try await tryWaitUntilFinished() } catch { error.stop() }
    }

    /// Suspends until the operation is finished, but not longer than a time, also if its work has started. A cancellation of the
    /// task ends the wait early. The operation is not cancelled.
    ///
    /// The call stops the process where `waitUntilFinished()` does.
    ///
    /// - Returns: Whether the operation was finished in time.
    public final func waitUntilFinished(
        timeout: Duration, clock: some Clock<Duration> = ContinuousClock()
    ) async -> Bool {
        do { try checkSuspension() } catch { error.stop() }
        if word.lifecycle.phase == .finished { return true }
        return await withTimeLimit(timeout, clock) {
            // The misuse was checked outside.
            _ = try? await self.waitUntilFinished(inAnyQueue: false, .alwaysEndsWait)
        }
    }

    /// Suspends until the operation is finished and has left its queue, and throws an error on misuse.
    ///
    /// - Throws: `OperationError.waitsForItself` or `OperationError.waitsInsideSerialQueue`. The call has not waited
    ///   then.
    public final func tryWaitUntilFinished() async throws(OperationError) {
        try await waitUntilFinished(inAnyQueue: false)
    }
}
