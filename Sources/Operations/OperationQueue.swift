public import Dispatch
public import KeyValueObserving
public import Observation
import SchedulerCore
import Synchronization

/// A queue that runs ready operations, the highest priority first, up to its concurrency limit.
///
/// Any number of threads may use a queue. The queue keeps an operation until the operation is finished. A queue that
/// holds operations stays alive.
//
// This file has the contract of each member, and a line that calls the implementation in `Flow/` or `Queue/`.
open class OperationQueue: KeyValueObservable, Observable, Hashable, CustomStringConvertible,
    CustomDebugStringConvertible, @unchecked Sendable
{
    // Sendable: every stored property is atomic, a lock, or constant.

    /// The operations that were added and are not yet in the schedule. See `Inbox`.
    final let inbox = Inbox()
    /// The state that adding threads read without the lock. See `Signal`.
    final let signal = Signal()
    /// The service levels of the queue's operations, for reading without the lock. See `ServiceMap`.
    final let serviceBits: Atomic<UInt64>
    /// The resumable parts of async operations, if the queue ever had an async operation. See `Resumptions`.
    final let resumptionsReference = LazyReference<Resumptions>()
    /// The progress reporter and the watchers of the queue's operations, if there are any.
    final let hooks = ToggledReference<QueueHooks>()
    /// The operation whose parts the queue runs, if the queue is inside an operation. See `QueueOwner`.
    final let ownerReference = LazyReference<QueueOwner>()
    /// The observers of the queue, if there are any.
    final let observersReference = LazyReference<QueueObservers>()
    /// The data of snapshots, if a snapshot was ever taken.
    final let statisticsReference = LazyReference<QueueStatistics>()
    /// Whether a policy of the queue reads a clock, for reading without the lock. See `PolicyReading`.
    final let readsClock = Atomic<Bool>(false)
    /// The opposite of `inheritsTaskContext`.
    final let detachesTasks = Atomic(false)
    /// The number of pool threads that work for the queue. Separate from `signal`, because the number changes with each
    /// thread.
    final let threads = ThreadBound()
    /// The time until which several workers share the queue, also if one might be enough. See `SprintPlan`.
    final let sharedUntil = Atomic<UInt64>(0)
    /// Whether a timer checks for a stall. Separate from the state, because each wait inside an operation reads it.
    final let isWatched = Atomic<Bool>(false)
    /// The other state. Access it with `withState`.
    final let state: Locked<State>

    /// Creates an empty queue with the default concurrency limit.
    public init() {
        state = Locked(State(kind: .pool))
        serviceBits = Atomic(ServiceMap.ofNewQueue.rawValue)
        QueueRegistry.add(self)
    }

    /// Creates an empty queue with a name, which texts about the queue contain, and a concurrency limit.
    // Disfavored: many programs have an initializer of their own with a name.
    @_disfavoredOverload
    public convenience init(
        name: String, maxConcurrentOperationCount: Int = OperationQueue.defaultMaxConcurrentOperationCount
    ) {
        self.init()
        self.name = name
        self.maxConcurrentOperationCount = maxConcurrentOperationCount
    }

    init(kind: Kind) {
        state = Locked(State(kind: kind))
        serviceBits = Atomic((kind.isPool ? ServiceMap.ofNewQueue : .oneLevel).rawValue)
        QueueRegistry.add(self)
    }

    deinit {
        QueueRegistry.remove(self)
        abandonRate()
        abandonObservers()
        abandonStallWatch()
    }

    // MARK: - Adding

    /// Adds an operation. The call never runs the operation on the calling thread. O(1) on average. While a worker keeps the queue
    /// busy, the call takes no lock. It takes locks to call a worker, for policies and observers, and in an idle suspended queue.
    /// While a queue is full or suspended, each sixteenth call takes a lock.
    ///
    /// If the queue refuses the operation, because it is full or was shut down, the operation fails with
    /// ``OperationError/queueFull(queue:capacity:)`` or ``OperationError/queueShutDown(queue:)``. It ends before the call returns, and
    /// never runs. A group ends when its cancelled children have. ``tryAddOperation(_:)`` throws the error instead.
    ///
    /// The call stops the process if the operation is in a queue, executes or has finished.
    open func addOperation(_ op: Operation) { do { try add(op) } catch { refuse([op], error) } }

    /// Adds all operations or none, and may wait until they are finished. If the queue refuses them, all fail. See
    /// ``addOperation(_:)-(Operation)``. On misuse the call adds none and stops the process.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    open func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) {
        do { try tryAddOperations(ops, waitUntilFinished: wait) } catch { refuse(ops, error) }
    }

    /// Adds a closure as a block operation.
    open func addOperation(_ block: @escaping @Sendable () -> Void) {
        // A subclass may override the addition of operations, and sees this one too.
        if type(of: self) == OperationQueue.self, !hooks.isSet {
            addNew(BlockOperation(block: block))
        } else {
            addOperation(BlockOperation(block: block))
        }
    }

    /// Not available: names `addTask` in place of the compiler's text about types.
    @available(*, unavailable, message: "A block neither throws nor awaits. Use addTask(_:)")
    public final func addOperation(_ block: @escaping @Sendable () async throws -> Void) { fatalError("unavailable") }

    /// Adds a closure as a block operation with a name, and returns the operation. A queue that is full or was shut down refuses
    /// the operation, which then fails. See ``addOperation(_:)-(Operation)``.
    ///
    /// - Parameters:
    ///   - name: A label for people.
    ///   - priority: The rank of the operation among the ready operations of the queue.
    ///   - dependencies: The operations that have to finish before the new operation starts.
    ///   - key: The key whose limit applies, such as a host; nil for no key. See ``addOperation(_:limitKey:)``.
    ///   - block: The work.
    @discardableResult
    public final func addOperation(
        name: String, priority: Operation.QueuePriority = .normal, after dependencies: [Operation] = [],
        limitKey key: String? = nil, _ block: @escaping @Sendable () -> Void
    ) -> BlockOperation {
        let operation = BlockOperation(name: name, block: block)
        operation.queuePriority = priority
        for dependency in dependencies { operation.addDependency(dependency) }
        addOperation(operation, limitKey: key)
        return operation
    }

    /// Adds a block that runs when all operations and barriers added before it are finished. Later ones wait for the
    /// block.
    ///
    /// A barrier block is not an operation: the queue does not count, list or cancel it. A suspended queue, and a queue
    /// whose concurrency limit is 0, do not start the block. A queue that was shut down never runs it.
    open func addBarrierBlock(_ barrier: @escaping @Sendable () -> Void) { addBarrier(barrier) }

    /// Adds an operation, and throws an error on misuse.
    ///
    /// - Throws: `OperationError` when the operation is in a queue, executes or has finished, or when the queue is full or was shut
    ///   down. The call has changed nothing then.
    public final func tryAddOperation(_ op: Operation) throws(OperationError) { try add(op) }

    /// Adds all operations, may wait until they are finished, and throws an error on misuse.
    ///
    /// - Throws: `OperationError`. The call has added no operation then.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    public final func tryAddOperations(_ ops: [Operation], waitUntilFinished wait: Bool) throws(OperationError) {
        if wait { for operation in ops { try checkWait(for: operation) } }
        try add(ops)
        if wait { for operation in ops { operation.waitUntilFinished() } }
    }

    // MARK: - Steering

    /// The concurrency limit that leaves the number of running operations to the system.
    public static let defaultMaxConcurrentOperationCount = -1

    /// The largest number of operations that run at a time with the default concurrency limit.
    ///
    /// The value is 64, or the number of processors that this process may use, if that number is larger. The number of
    /// processors is read once.
    public static let defaultMaxThreadCount = max(64, Processor.count)

    /// The largest number of threads of a queue: 512, or `defaultMaxThreadCount`, if that is larger.
    ///
    /// A higher concurrency limit takes effect for async operations, which need no thread while they are suspended. Of
    /// all other operations at most this number run at a time.
    public static let maxThreadCount = max(512, defaultMaxThreadCount)

    /// The largest number of operations that run at a time. 0 starts no operation; 1 makes a serial queue.
    ///
    /// A change takes effect at once, also for waiting operations. Running operations continue when the limit is lowered.
    /// Setting a negative value other than ``defaultMaxConcurrentOperationCount`` stops the process.
    open var maxConcurrentOperationCount: Int {
        get {
            noteRead(\.maxConcurrentOperationCount)
            return state.withLock { $0.width }
        }
        set { stopOnMisuse { () throws(OperationError) in try setWidth(newValue) } }
    }

    /// Sets `maxConcurrentOperationCount`, and throws an error for an invalid value.
    ///
    /// - Throws: `OperationError.negativeConcurrencyLimit`. The call has changed nothing then.
    public final func trySetMaxConcurrentOperationCount(_ width: Int) throws(OperationError) { try setWidth(width) }

    /// Whether the queue starts no operations. Running operations continue.
    open var isSuspended: Bool {
        get {
            noteRead(\.isSuspended)
            return state.withLock { $0.machine.schedule.isSuspended }
        }
        set { setSuspended(newValue) }
    }

    /// The service level of operations that start from now on.
    open var qualityOfService: QualityOfService {
        get {
            noteRead(\.qualityOfService)
            return state.withLock { $0.qualityOfService }
        }
        set { setQualityOfService(newValue) }
    }

    /// The dispatch queue that operations run on, interleaved with its own blocks; nil for threads of the system.
    ///
    /// On a serial dispatch queue, `start()` of one operation returns before the next `start()` is called. On the main
    /// dispatch queue, operations run on the main thread. `OperationQueue.main` uses the main dispatch queue, and ignores
    /// this setter.
    ///
    /// Setting the property while the queue holds operations stops the process. ``trySetUnderlyingQueue(_:)`` throws an
    /// error instead.
    open var underlyingQueue: DispatchQueue? {
        get { state.withLock { $0.kind.isMain ? .main : $0.underlyingQueue } }
        set { stopOnMisuse { () throws(OperationError) in try setUnderlyingQueue(newValue) } }
    }

    /// Sets `underlyingQueue`, and throws an error if the queue holds operations.
    ///
    /// - Throws: `OperationError.underlyingQueueWhileNotEmpty`. The call has changed nothing then.
    public final func trySetUnderlyingQueue(_ queue: DispatchQueue?) throws(OperationError) {
        try setUnderlyingQueue(queue)
    }

    /// A label for people. The threads that run the queue's operations have this name where the system supports thread
    /// names.
    open var name: String? {
        get {
            noteRead(\.name)
            return readName()
        }
        set { setName(newValue) }
    }

    /// Cancels every operation that is in the queue at this moment. Barrier blocks still run.
    ///
    /// The method calls `cancel()` of each operation once, in the order added. Meanwhile the queue keeps running, but
    /// starts the work of no operation that is to be cancelled. A thread of the queue that reaches such an operation
    /// calls its `cancel()` first. So an override of `cancel()`, or an observer, may wait for another operation of the
    /// queue. When the method returns, each `BlockOperation` that had not ended is cancelled. `cancel()` of a subclass may
    /// still be running on a thread of the queue that reached the operation first. O(n log n).
    open func cancelAllOperations() { cancelAll() }

    // MARK: - Looking

    /// Blocks until the queue is empty, including barriers, and operations that other threads add meanwhile.
    ///
    /// The call stops the process if an operation of the queue makes it. `tryWaitUntilAllOperationsAreFinished()`
    /// throws an error instead.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    open func waitUntilAllOperationsAreFinished() { stopOnMisuse { () throws(OperationError) in _ = try waitForAll() } }

    /// Blocks until the queue is empty, but not longer than a time.
    ///
    /// The call stops the process if an operation of the queue makes it.
    ///
    /// - Returns: Whether the queue was empty in time.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    public final func waitUntilAllOperationsAreFinished(timeout: Duration) -> Bool {
        stopOnMisuse { () throws(OperationError) in try waitForAll(atMost: timeout.roundedUp) }
    }

    /// Blocks until the queue is empty, and throws an error if an operation of the queue calls this method.
    ///
    /// - Throws: `OperationError`. The call has not waited then.
    @available(
        *, noasync,
        message:
            "Use 'await' in an async function, which the top level of a main.swift is not, or a dependent operation"
    )
    public final func tryWaitUntilAllOperationsAreFinished() throws(OperationError) { _ = try waitForAll() }

    /// The operations that are in the queue at this moment, in the order added, without barriers. O(n log n).
    ///
    /// For an observer that requests no values, each change costs O(1). An observer that requests `.old` or `.new` values
    /// receives the whole list at each change, so adding and finishing n operations costs O(n²). The thread that calls
    /// the observers makes the lists, without the queue's lock. To count the operations, observe ``operationCount``,
    /// whose values cost nothing.
    @available(
        *, deprecated, message: "The list is out of date at once. Use snapshot() for numbers, or addBarrierBlock(_:)"
    )
    public final var operations: [Operation] {
        noteRead(\.operations)
        return listed()
    }

    /// The number of operations in the queue at this moment. O(1).
    @available(
        *, deprecated, message: "The number is out of date at once. Use snapshot(), progress or addBarrierBlock(_:)"
    )
    public final var operationCount: Int {
        noteRead(\.operationCount)
        return withState { $0.machine.schedule.operationCount }
    }

    /// The innermost queue whose operation this thread runs; otherwise the main queue on the first thread of the process, and nil
    /// elsewhere.
    open class var current: OperationQueue? { currentQueue }

    /// The queue of the main thread. It is serial, cannot be suspended, and is interleaved with the main dispatch queue.
    ///
    /// In a Linux program whose `main()` is async, threads of Dispatch serve the main dispatch queue in turn.
    open class var main: OperationQueue { MainQueue.shared }

    /// The type, the address and the name.
    open var description: String { describe() }

    /// The value of `description`, unless overridden.
    open var debugDescription: String { description }

    // MARK: - Observing

    /// The observers of the queue, for `KeyValueObserving`. Use `observe`, `addObserver` or `values(for:)`.
    public final var keyValueRegistrar: KeyValueRegistrar {
        observersReference.load() ?? beginObserving()
    }

    /// The names of properties that a subclass adds, for string keys and key-value coding.
    open class var additionalKeyValueKeys: [KeyValueKey] { [] }

    /// Returns the names of properties, or paths of names, whose changes may change the property of this name.
    open class func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }

    // MARK: - Identity

    /// Whether the other object counts as equal. By default only this object itself does.
    ///
    /// `==` calls this method. The system itself distinguishes queues by identity and never calls it.
    open func isEqual(_ object: Any?) -> Bool { (object as AnyObject?) === self }

    /// A number that is equal for objects that count as equal. An override of `isEqual(_:)` overrides this property too.
    open var hash: Int { ObjectIdentifier(self).hashValue }

    public static func == (a: OperationQueue, b: OperationQueue) -> Bool { a.isEqual(b) }

    public func hash(into hasher: inout Hasher) { hasher.combine(hash) }
}

extension OperationQueue {
    /// Suspends until the queue is empty, including barriers, and operations that other threads add meanwhile. A cancellation of
    /// the task ends the wait early, and cancels no operation.
    ///
    /// The call stops the process if an operation of the queue makes it.
    public final func waitUntilAllOperationsAreFinished() async {
        do { try await tryWaitUntilAllOperationsAreFinished() } catch { error.stop() }
    }

    /// Suspends until the queue is empty, but not longer than a time. A cancellation of the task ends the wait early.
    ///
    /// The call stops the process if an operation of the queue makes it.
    ///
    /// - Returns: Whether the queue was empty in time.
    public final func waitUntilAllOperationsAreFinished(
        timeout: Duration, clock: some Clock<Duration> = ContinuousClock()
    ) async -> Bool {
        do { try checkSuspensionForAll() } catch { error.stop() }
        if withState({ $0.machine.schedule.isEmpty }) { return true }
        return await withTimeLimit(timeout, clock) { await self.suspendUntilIdle() }
    }

    /// Suspends until the queue is empty, and throws an error if an operation of the queue calls this method. A cancellation of the
    /// task ends the wait early.
    ///
    /// - Throws: `OperationError`. The call has not waited then.
    public final func tryWaitUntilAllOperationsAreFinished() async throws(OperationError) {
        try checkSuspensionForAll()
        await suspendUntilIdle()
    }

    /// Adds all operations, and may suspend until they are finished. On misuse the call adds none and stops the process.
    public final func addOperations(_ ops: [Operation], waitUntilFinished wait: Bool) async {
        do { try add(ops) } catch { refuse(ops, error) }
        if wait { for operation in ops { await operation.waitUntilFinished() } }
    }
}
