public import KeyValueObserving
public import Observation
import SchedulerCore
import Synchronization

/// One unit of work that runs once: an abstract class. Override `main()` for work that ends when it returns; override
/// `start()` and the state properties for work that ends later (rules L1–L14).
///
/// Every member is safe to call from any thread without a lock of the caller's (rule L11). Reading a state costs an
/// atomic load, and a call that finds out whether the Observation framework tracks it.
///
/// This file is the table of contents: each member has its contract here and one line that leads to the step of the
/// flow, `add → ready → start → finish → complete`, that carries it out (`Flow/`).
open class Operation: KeyValueObservable, Observable, Hashable, CustomStringConvertible, CustomDebugStringConvertible,
    @unchecked Sendable
{
    // Sendable: `word` and `attachmentsReference` are atomic; the others say what guards them.

    /// Phase, cancellation, priority, count of unfinished dependencies. See `Lifecycle`.
    final let word = Word()
    /// Everything that most operations never need. See `Attachments`.
    final let attachmentsReference = LazyReference<Attachments>()
    /// The queue it is or was in. Written in `entering`, before the word says so; constant from `enqueued` on.
    @exclusivity(unchecked) final var queue: Unmanaged<OperationQueue>?
    /// The next operation in the inbox. Owned by whoever set `inInbox`, then by whoever drains.
    @exclusivity(unchecked) final var next: Unmanaged<Operation>?
    /// Its place in its queue's schedule. Guarded by the queue's lock.
    @exclusivity(unchecked) final var ticket = Schedule.Ticket.none

    public init() {}

    deinit { abandon() }

    // MARK: - Running

    /// Begins the operation: skips `main()` when it is cancelled, else runs it, then finishes (rules L3, L5).
    ///
    /// A queue calls this on a thread of its own. Called by hand it runs in the calling thread. An override does not
    /// call super, and announces `isExecuting` and `isFinished` itself (rule L7). Starting while executing, while in a
    /// queue or while not ready is misuse (M1); `tryStart()` throws instead.
    open func start() { beginOrReport() }

    /// `start()` by hand that throws misuse M1 as an error and then has changed nothing.
    public final func tryStart() throws(OperationError) {
        try checkStartByHand()
        try startReportingMisuse()
    }

    /// The work. Does nothing by default; an override never calls super (rule L4).
    open func main() {}

    /// Asks the operation to stop; nothing is stopped by force (rule C1).
    ///
    /// One that waits in a queue becomes ready at once, skips `main()` and finishes (rule C2). No effect after the end.
    open func cancel() { requestCancellation() }

    // MARK: - State

    /// Whether `cancel()` was called before the end. Never goes back to false.
    open var isCancelled: Bool {
        noteRead(\.isCancelled)
        return word.lifecycle.isCancelled
    }

    /// Whether `main()` runs.
    open var isExecuting: Bool {
        noteRead(\.isExecuting)
        return word.lifecycle.isExecuting
    }

    /// Whether the work has ended or was skipped. Changes together with `isExecuting` (rule L9).
    open var isFinished: Bool {
        noteRead(\.isFinished)
        return word.lifecycle.isFinished
    }

    /// Whether it may start: every dependency is finished, or it is cancelled.
    ///
    /// An override combines its own condition with `super.isReady` and announces changes (rule L8).
    open var isReady: Bool {
        noteRead(\.isReady)
        return word.lifecycle.unfinished == 0 || isCancelled
    }

    /// Whether the work goes on after `start()` returns. A queue ignores it (rule L6).
    open var isAsynchronous: Bool {
        noteRead(\.isAsynchronous)
        return followedIsConcurrent()
    }

    /// The former name of `isAsynchronous`. When only one of the two is overridden, the other follows it.
    @available(*, deprecated, renamed: "isAsynchronous")
    open var isConcurrent: Bool { followedIsAsynchronous() }

    // MARK: - Dependencies

    /// Makes this operation wait for another, in whatever queue, or none (rules D1–D3).
    ///
    /// May be called until it starts, also while it waits for a slot. Adding one twice counts once. Depending on itself
    /// is misuse (M7). O(1).
    open func addDependency(_ op: Operation) { stopOnMisuse { () throws(OperationError) in try depend(on: op) } }

    /// `addDependency` that throws misuse M7 as an error and then has changed nothing.
    public final func tryAddDependency(_ op: Operation) throws(OperationError) {
        guard op !== self else { throw .dependsOnItself(operation: label) }
        addDependency(op)
    }

    /// Undoes `addDependency`; the operation becomes ready if it was the last (rule D4). O(1).
    open func removeDependency(_ op: Operation) { stopDepending(on: op) }

    /// What it depends on, finished or not, in the order added (rule D5).
    open var dependencies: [Operation] {
        noteRead(\.dependencies)
        return attachments?.withLock { $0.readiness.dependencies } ?? []
    }

    // MARK: - Priority and name

    /// The order among the ready operations of a queue (rule P2). A change re-orders at once (rule P3).
    open var queuePriority: QueuePriority {
        get {
            noteRead(\.queuePriority)
            return QueuePriority(word.lifecycle.priority)
        }
        set { setPriority(newValue) }
    }

    /// The service level of the thread it runs on, if set; if not, and when the queue's is higher, the queue's (P6).
    open var qualityOfService: QualityOfService {
        get {
            noteRead(\.qualityOfService)
            return QualityOfService(serviceIndex: word.lifecycle.serviceIndex)
        }
        set { setQualityOfService(newValue) }
    }

    /// Deprecated on every system; kept from 0 to 1, default 0.5, without effect (rule L13).
    @available(*, deprecated, message: "Use qualityOfService")
    open var threadPriority: Double {
        get { attachments?.withLock { $0.extras?.threadPriority } ?? 0.5 }
        set { setThreadPriority(newValue) }
    }

    /// A label for people; shown in `description`, logs and stall reports.
    open var name: String? {
        get {
            noteRead(\.name)
            return attachments?.withLock { $0.extras?.name }
        }
        set { setName(newValue) }
    }

    /// Type, identity, name and state (rule L12).
    open var description: String { describe() }

    /// The same as `description`, unless overridden.
    open var debugDescription: String { description }

    // MARK: - Completion and waiting

    /// Runs once after `isFinished` became true, on no promised thread, also when cancelled (rules W1, W2).
    ///
    /// It is nil from the moment it begins, and released with its captures when it has run. Set on a finished
    /// operation, it is kept and never run.
    open var completionBlock: (@Sendable () -> Void)? {
        get {
            noteRead(\.completionBlock)
            return attachments?.withLock { $0.completionBlock }
        }
        set { setCompletionBlock(newValue) }
    }

    /// Blocks until the operation is finished and has left its queue (rule W3).
    ///
    /// Waiting for itself, and for another operation of the serial queue that the caller occupies, is misuse (M8);
    /// `tryWaitUntilFinished()` throws instead. A worker that waits here is replaced meanwhile.
    @available(*, noasync, message: "Use the async waitUntilFinished(), completionBlock or a dependent operation")
    open func waitUntilFinished() { stopOnMisuse { () throws(OperationError) in try waitForFinish() } }

    /// `waitUntilFinished` that throws misuse M8 as an error and then has not waited.
    @available(*, noasync, message: "Use the async waitUntilFinished(), completionBlock or a dependent operation")
    public final func tryWaitUntilFinished() throws(OperationError) {
        try checkWait()
        waitUntilFinished()
    }

    /// Does the work on this thread. False: it goes on after this has returned, and will call `endAnnounced`.
    func perform() -> Bool {
        runMain()
        return true
    }

    /// It has something to do even when it was cancelled before it started.
    var startsCancelled: Bool { false }

    /// It has started before, and has stood aside since.
    var isStandingAside: Bool { false }

    /// The operation is about to become a queue's. Called by the adding thread, at least once.
    func prepare(for queue: Unmanaged<OperationQueue>) {}

    /// What it waits for: whoever lends it a priority lends it to them.
    var operationsWaitedFor: [Operation] { dependenciesAndAwaited }

    /// It is to run with at least this priority, if that means something to it.
    func raiseTask(to lane: PriorityLane) {}

    /// By what the tasks are known that are part of it; nil when they are not, because it is not async.
    var executorOfTask: UnownedTaskExecutor? { nil }

    /// Releases work that will not be done, because the operation finished without running it (rule W5).
    func discardWork() {}

    // MARK: - Observing

    /// Who observes the operation. For `KeyValueObserving`; use `observe`, `addObserver` or `values(for:)`.
    public final var keyValueObservers: KeyValueObservers { ownAttachments }

    /// The names of properties that a subclass adds, for string keys and key-value coding (rule K4).
    open class var additionalKeyValueKeys: [KeyValueKey] { [] }

    /// The names of the properties, or paths of names, whose changes may change the property of this name (rule K4).
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    // MARK: - Identity

    /// Whether the other object counts as equal: by default, only this object itself.
    ///
    /// `==` asks this. The system itself tells operations apart by identity and never asks.
    open func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    /// A number that is the same for objects that count as equal. An override of `isEqual(_:)` overrides it too.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    public static func == (a: Operation, b: Operation) -> Bool { a.isEqual(b) }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension Operation {
    /// Suspends until the operation is finished and has left its queue (rule W3). No thread is blocked.
    ///
    /// Waiting for itself from inside is misuse (M8), as is waiting, from an async operation of a serial queue, for another
    /// operation of that queue.
    public final func waitUntilFinished() async {
        do { try await tryWaitUntilFinished() } catch { error.stop() }
    }

    /// `waitUntilFinished` that throws misuse M8 as an error and then has not waited.
    public final func tryWaitUntilFinished() async throws(OperationError) {
        try await waitUntilFinished(inAnyQueue: false)
    }
}
