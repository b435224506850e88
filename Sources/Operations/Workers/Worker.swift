#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import CPlatform
import SchedulerCore
import Synchronization

/// One thread of a pool. It works for one source after another, and sleeps in between.
final class Worker: @unchecked Sendable {
    // Sendable: `frame` and `namedFor` belong to the worker's own thread, and `census` to its pool's lock. The rest is
    // atomic or constant.
    let pool: WorkerPool
    let level: ServiceLevel
    let parker = Parker()
    /// The operation that this thread has claimed and runs, and its queue.
    @exclusivity(unchecked) private(set) var frame: ThreadContext.Frame?
    /// The queue that the worker works for.
    @exclusivity(unchecked) var workplace: Unmanaged<OperationQueue>?
    private var namedFor: String?
    let obligation = Obligation()
    /// The number of operations. The monitor reads it to see whether the worker moves.
    private let progress = Atomic<UInt>(0)
    private let shouldRetire = Atomic<Bool>(false)
    /// The address of the operation that the thread runs, for threads that lend it a level; 0 while the thread runs none.
    private let running = Atomic<UInt>(0)
    /// The time of the start of that operation, or of its present part, by the coarse clock.
    private let runningSince = Atomic<UInt64>(0)
    /// Whether the thread has a lent level. See `WorkerPool.Census`.
    private let isRaised = Atomic(false)
    /// The pool's data about the worker.
    var census = WorkerPool.Census()

    init(pool: WorkerPool) {
        self.pool = pool
        level = pool.level
    }

    // MARK: - One operation

    func begin(_ operation: Unmanaged<Operation>, of queue: OperationQueue) {
        frame = .init(operation: operation, queue: Unmanaged.passUnretained(queue))
        beginRunning(operation)
    }

    func end() {
        frame = nil
        endRunning()
        obligation.clear()
        progress.store(progress.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Notes that the thread runs code of the operation.
    @inline(__always)
    func beginRunning(_ operation: Unmanaged<Operation>) {
        runningSince.store(MonotonicClock.coarse, ordering: .relaxed)
        running.store(UInt(bitPattern: operation.toOpaque()), ordering: .releasing)
        if LevelLending.isUsed { takeLentLevel(of: operation) }
    }

    @inline(__always)
    func endRunning() {
        running.store(0, ordering: .relaxed)
        if isRaised.load(ordering: .relaxed) { pool.state.withLock { _ in lower() } }
    }

    /// The time at which the thread began to run the operation; nil if it runs another one or none.
    ///
    /// The thread may have begun with another operation between the two readings, so the address is read twice.
    func start(of operation: Operation) -> UInt64? {
        let address = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        guard running.load(ordering: .acquiring) == address else { return nil }
        let since = runningSince.load(ordering: .acquiring)
        return running.load(ordering: .relaxed) == address ? since : nil
    }

    var operationsDone: UInt { progress.load(ordering: .relaxed) }

    // MARK: - Between operations

    /// Whether the worker should leave the queue: other sources wait for a thread, or there are more threads than the
    /// cores can run.
    @inline(__always)
    func shouldYield(to queue: OperationQueue) -> Bool {
        if shouldRetire.load(ordering: .relaxed) || pool.othersWait(besides: false) { return shouldYieldNow(to: queue) }
        return false
    }

    @inline(never)
    private func shouldYieldNow(to queue: OperationQueue) -> Bool {
        if shouldRetire.exchange(false, ordering: .relaxed) { return true }
        return pool.othersWait(besides: queue.signal.isCalling(level)) && pool.quantumIsOver(of: self)
    }

    func retireSoon() { shouldRetire.store(true, ordering: .relaxed) }

    // MARK: - Blocking

    /// Blocks this thread until another thread unparks the parker. Another worker replaces a worker meanwhile.
    ///
    /// Each wait has a parker of its own. The promise of the worker, an observer, or a handler of a raised task runs user code
    /// after the parker was registered. That code may wait too, and would receive the signal of a shared parker.
    ///
    /// - Parameter limit: The largest number of nanoseconds; nil for none.
    /// - Returns: Whether the parker was unparked.
    @discardableResult
    static func block(on parker: Parker, atMost limit: UInt64? = nil) -> Bool {
        let worker = ThreadContext.current.worker
        if let worker {
            worker.fulfillObligation()
            worker.pool.workerBlocks(worker)
        }
        defer { if let worker { worker.pool.workerGoesOn(worker) } }
        return Monitor.shared.park(parker, atMost: limit)
    }

    // MARK: - Levels

    /// Raises this thread while it runs the operation. Called under the lock of the pool.
    func raise(to lent: ServiceLevel, for operation: Operation) {
        #if !canImport(Darwin)
        let address = UInt(bitPattern: Unmanaged.passUnretained(operation).toOpaque())
        guard running.load(ordering: .relaxed) == address, let clock = census.clock else { return }
        guard lent > census.lentLevel ?? level else { return }
        census.lentLevel = lent
        isRaised.store(true, ordering: .sequentiallyConsistent)
        clock.setNiceness(Niceness.ofProcess + lent.niceness)
        // The thread may have ended the operation before it could see that it is raised.
        if running.load(ordering: .sequentiallyConsistent) != address { lower() }
        #endif
    }

    /// Gives this thread its own level. Called under the lock of the pool.
    private func lower() {
        guard census.lentLevel.take() != nil else { return }
        isRaised.store(false, ordering: .relaxed)
        #if !canImport(Darwin)
        census.clock?.setNiceness(Niceness.ofProcess + level.niceness)
        #endif
    }

    // MARK: - Thread

    /// Starts the thread. The pool has given the worker its first source. False: the system refuses another thread.
    func spawn() -> Bool {
        let worker = Unmanaged.passRetained(self)
        let isStarted = cplatform_start_thread(
            { Unmanaged<Worker>.fromOpaque($0.unsafelyUnwrapped).takeRetainedValue().live() }, worker.toOpaque())
        if !isStarted { worker.release() }
        return isStarted
    }

    /// Works for a source. The thread holds no reference to the source when this function has returned, however long the
    /// thread sleeps then (rule Q1).
    private func serve(_ source: inout (any WorkSource)?) {
        guard let current = source.take() else { return }
        takeName(current.threadName)
        current.work(on: self)
    }

    private func live() {
        level.apply()
        let context = ThreadContext.current
        context.worker = self
        var source = pool.workerBegan(self, clock: ThreadClock.current)
        while source != nil {
            serve(&source)
            source = pool.nextSource(for: self)
        }
        context.worker = nil
    }

    /// Sets the name of the thread. Linux keeps 15 bytes of it.
    private func takeName(_ name: String?) {
        guard name != namedFor else { return }
        namedFor = name
        var bytes = name ?? "operation"
        while bytes.utf8.count > 15 { bytes.removeLast() }
        #if canImport(Darwin)
        pthread_setname_np(bytes)
        #else
        cplatform_set_thread_name(bytes)
        #endif
    }
}
