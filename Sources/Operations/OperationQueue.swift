public import Dispatch
public import KeyValueObserving
public import Observation
import SchedulerCore
import Synchronization

/// Runs operations: those that are ready, the highest priority first, as many at a time as its width allows.
///
/// Any number of threads may use one queue (rule Q12). The queue keeps an operation until it is finished, and lives
/// itself while it holds operations (rule Q1).
///
/// This file is the table of contents: each member has its contract here and a line that leads to the file that carries
/// it out, in `Flow/` or `Queue/`.
open class OperationQueue: KeyValueObservable, Observable, Hashable, CustomStringConvertible,
    CustomDebugStringConvertible, @unchecked Sendable
{
    // Sendable: every stored property is atomic, a lock, or constant.

    /// Operations on their way in. See `Inbox`.
    final let inbox = Inbox()
    /// What adders have to know without the lock. See `Signal`.
    final let signal = Signal()
    /// The level that its threads are to have; for a look without the lock.
    final let level = Atomic<Int>(ServiceLevel.normal.rawValue)
    /// What has to go on of its async operations, if it ever had one. See `Resumptions`.
    final let resumptionsReference = LazyReference<Resumptions>()
    /// Who keeps its progress, and who watches what becomes of its operations, if anybody does.
    final let hooks = LazyReference<QueueHooks>()
    /// The operation whose parts it runs, if it is inside of one. See `QueueOwner`.
    final let ownerReference = LazyReference<QueueOwner>()
    /// Who observes it, if anybody does.
    final let observersReference = LazyReference<QueueObservers>()
    /// What snapshots need, if one was ever taken.
    final let statisticsReference = LazyReference<QueueStatistics>()
    /// How many may be in it, if that was ever bounded. See `Bound`.
    final let boundReference = LazyReference<Bound>()
    /// It has a rate limit; for a look without the lock.
    final let isThrottled = Atomic<Bool>(false)
    /// How many threads of the pools work for it. Apart from what adders look at, for it changes with each that comes.
    final let threads = ThreadBound()
    /// Everything else. Reach it by `withState`.
    final let state: Locked<State>

    public init() { state = Locked(State(kind: .pool)) }

    init(kind: Kind) { state = Locked(State(kind: kind)) }

    deinit {
        abandonThrottle()
        abandonObservers()
    }

    // MARK: - Adding

    /// Adds an operation (rule Q1).
    ///
    /// Adding one that is in a queue, executes or has finished is misuse (M2, M3); `tryAddOperation` throws instead.
    /// Never runs the operation on the calling thread. O(1) without a lock.
    open func addOperation(_ op: Operation) { stopOnMisuse { () throws(OperationError) in try add(op) } }

    /// Adds all operations or, on misuse, none (rules Q2, M2, M3), and may wait until they are finished.
    @available(*, noasync, message: "Use the async addOperations(_:waitUntilFinished:) or a dependent operation")
    open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
        stopOnMisuse { () throws(OperationError) in try tryAddOperations(ops, waitUntilFinished: wait) }
    }

    /// Adds a closure as a block operation.
    open func addOperation(_ block: @escaping @Sendable () -> Void) { addOperation(BlockOperation(block: block)) }

    /// Adds a block that runs when everything queued before it is finished; what is queued after it waits for it (X1).
    ///
    /// It is no operation: not counted, not listed, not cancelled. It is held by suspension and by width 0.
    open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { addBarrier(barrier) }

    /// `addOperation` that throws misuse M2 and M3 as errors and then has changed nothing.
    public final func tryAddOperation(_ op: Operation) throws(OperationError) { try add(op) }

    /// `addOperations` that throws misuse M2, M3 and M8 as errors and then has queued none.
    @available(*, noasync, message: "Use the async form or a dependent operation")
    public final func tryAddOperations(_ ops: [Operation], waitUntilFinished wait: Bool) throws(OperationError) {
        if wait { for operation in ops { try checkWait(for: operation) } }
        try add(ops)
        if wait { for operation in ops { operation.waitUntilFinished() } }
    }

    // MARK: - Steering

    /// The width that leaves the number of operations at a time to the system (rule Q4).
    public static let defaultMaxConcurrentOperationCount = -1

    /// The largest number of operations that the default width runs at a time (rule Q4): 64, or the number of processors
    /// that this process may use, if that is larger. The number of processors is read once.
    public static let defaultWidthCeiling = max(64, Processor.count)

    /// The most threads any queue has at a time: a higher width takes effect for async operations, which need none while
    /// they are suspended, and is bounded by this for all others (Q3): 512, or the default width's ceiling, if that is larger.
    public static let widthCeiling = max(512, defaultWidthCeiling)

    /// How many operations may run at a time; 0 starts nothing, 1 is a serial queue (rule Q3).
    ///
    /// Takes effect at once, lowered also for what waits. Other negative values are misuse (M6).
    open var maxConcurrentOperationCount: Int {
        get {
            noteRead(\.maxConcurrentOperationCount)
            return state.withLock { $0.width }
        }
        set { stopOnMisuse { () throws(OperationError) in try setWidth(newValue) } }
    }

    /// Setting `maxConcurrentOperationCount` that throws misuse M6 as an error.
    public final func trySetMaxConcurrentOperationCount(_ width: Int) throws(OperationError) { try setWidth(width) }

    /// While true, nothing that has not started starts; what runs goes on (rule Q5).
    open var isSuspended: Bool {
        get {
            noteRead(\.isSuspended)
            return state.withLock { $0.schedule.isSuspended }
        }
        set { setSuspended(newValue) }
    }

    /// The service level of what starts from now on (rules P6, P7).
    open var qualityOfService: QualityOfService {
        get {
            noteRead(\.qualityOfService)
            return state.withLock { $0.qualityOfService }
        }
        set { setQualityOfService(newValue) }
    }

    /// The dispatch queue that operations run on, interleaved with its own blocks; nil for threads of the system's own.
    ///
    /// On a serial one, `start()` of one operation returns before that of the next is called; on the main dispatch queue,
    /// operations run on the main thread. `OperationQueue.main` has the main dispatch queue, and ignores the setter.
    /// Setting it while the queue holds operations is misuse (M4).
    open var underlyingQueue: DispatchQueue? {
        get { state.withLock { $0.kind.isMain ? .main : $0.underlyingQueue } }
        set { stopOnMisuse { () throws(OperationError) in try setUnderlyingQueue(newValue) } }
    }

    /// Setting `underlyingQueue` that throws misuse M4 as an error.
    public final func trySetUnderlyingQueue(_ queue: DispatchQueue?) throws(OperationError) {
        try setUnderlyingQueue(queue)
    }

    /// A label for people; the threads that run the queue's operations carry it where the system allows (rule Q7).
    open var name: String? {
        get {
            noteRead(\.name)
            return readName()
        }
        set { setName(newValue) }
    }

    /// Cancels every operation that is in the queue at this moment; barrier blocks still run (rule C5).
    ///
    /// Calls `cancel()` of each one once, in the order added. The queue keeps running meanwhile. It starts the work of no
    /// operation that is to be cancelled: a thread of the queue that comes to one first calls its `cancel()` (rule A12). So
    /// an override of `cancel()`, or an observer, may wait for another operation of the queue. O(n log n).
    open func cancelAllOperations() { cancelAll() }

    // MARK: - Looking

    /// Blocks until nothing is left, barriers and what others add meanwhile included (rule W4).
    @available(*, noasync, message: "Use the async waitUntilAllOperationsAreFinished() or a dependent operation")
    open func waitUntilAllOperationsAreFinished() { stopOnMisuse { () throws(OperationError) in try waitForAll() } }

    /// `waitUntilAllOperationsAreFinished` that throws misuse M8 as an error and then has not waited.
    @available(*, noasync, message: "Use the async waitUntilAllOperationsAreFinished() or a dependent operation")
    public final func tryWaitUntilAllOperationsAreFinished() throws(OperationError) { try waitForAll() }

    /// What is in the queue at this moment, in the order added, without barriers (rule Q6). O(n log n).
    ///
    /// An observer that asks for no value costs each change O(1). One that asks with `.old` or `.new` gets the whole list at
    /// each change, so adding and finishing n operations costs it O(n²). The thread that calls the observers makes the lists,
    /// without the queue's lock. To count the operations, observe ``operationCount``, whose values cost nothing.
    @available(*, deprecated, message: "A snapshot is out of date at once. Use addBarrierBlock for barrier behaviour.")
    public final var operations: [Operation] {
        noteRead(\.operations)
        return listed()
    }

    /// How many operations are in the queue at this moment (rule Q6). O(1).
    @available(*, deprecated, message: "A snapshot is out of date at once. Use progress or addBarrierBlock.")
    public final var operationCount: Int {
        noteRead(\.operationCount)
        return withState { $0.schedule.operationCount }
    }

    /// The queue whose operation this thread runs, the innermost; the main queue on the main thread; else nil (Q9).
    open class var current: OperationQueue? { currentQueue }

    /// The queue of the main thread: serial, not to be suspended, interleaved with the main dispatch queue (rule Q8).
    open class var main: OperationQueue { MainQueue.shared }

    /// The name, and the type and address (rule Q7).
    open var description: String { describe() }

    /// The same as `description`, unless overridden.
    open var debugDescription: String { description }

    // MARK: - Observing

    /// Who observes the queue. For `KeyValueObserving`; use `observe`, `addObserver` or `values(for:)`.
    public final var keyValueObservers: KeyValueObservers {
        observersReference.load() ?? observersReference.storeIfNil(QueueObservers(state))
    }

    /// The names of properties that a subclass adds, for string keys and key-value coding (rule K4).
    open class var additionalKeyValueKeys: [KeyValueKey] { [] }

    /// The names of the properties, or paths of names, whose changes may change the property of this name (rule K4).
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    // MARK: - Identity

    /// Whether the other object counts as equal: by default, only this object itself.
    ///
    /// `==` asks this. The system itself tells queues apart by identity and never asks.
    open func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    /// A number that is the same for objects that count as equal. An override of `isEqual(_:)` overrides it too.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    public static func == (a: OperationQueue, b: OperationQueue) -> Bool { a.isEqual(b) }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension OperationQueue {
    /// Suspends until nothing is left, barriers and what others add meanwhile included (rule W4).
    ///
    /// Waiting for it from inside one of its operations is misuse (M8).
    public final func waitUntilAllOperationsAreFinished() async {
        do { try await tryWaitUntilAllOperationsAreFinished() } catch { error.stop() }
    }

    /// `waitUntilAllOperationsAreFinished` that throws misuse M8 as an error and then has not waited.
    public final func tryWaitUntilAllOperationsAreFinished() async throws(OperationError) {
        try checkSuspensionForAll()
        await suspendUntilIdle()
    }

    /// Adds all operations or, on misuse, none (rules Q2, M2, M3), and may suspend until they are finished.
    public final func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) async {
        stopOnMisuse { () throws(OperationError) in try add(ops) }
        if wait { for operation in ops { await operation.waitUntilFinished() } }
    }
}
