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
    let parker = Parker()
    /// The operation that this thread has claimed and runs, and its queue.
    @exclusivity(unchecked) private(set) var frame: ThreadContext.Frame?
    private var namedFor: String?
    /// Whether the running operation has ended, and this thread has yet to fill the slot when `start()` returns.
    ///
    /// So a chain stays on one thread, and a serial queue wakes no other thread between two operations. The debt is
    /// passed on before any step that may take long: a completion block, a wait. In one case it is not: an override of
    /// `start()` that continues after `super.start()`. The monitor finds that case.
    private let debt = Atomic<Bool>(false)
    /// The number of operations. The monitor reads it to see whether the worker moves.
    private let progress = Atomic<UInt>(0)
    private let shouldRetire = Atomic<Bool>(false)
    /// The pool's data about the worker.
    var census = WorkerPool.Census()

    init(pool: WorkerPool) { self.pool = pool }

    // MARK: - One operation

    func begin(_ operation: Unmanaged<Operation>, of queue: OperationQueue) {
        frame = .init(operation: operation, queue: Unmanaged.passUnretained(queue))
    }

    func end() {
        frame = nil
        debt.store(false, ordering: .relaxed)
        progress.store(progress.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
    }

    /// Notes that the operation ends on this thread, inside its `start()`. From here on the worker looks for the next one
    /// itself.
    func willFinish(_ operation: Operation) {
        guard frame?.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() else { return }
        debt.store(true, ordering: .relaxed)
        // No user code can follow in the `start()` of the system's own classes. User code can run in dependents: an
        // overridden `isReady`, or an observer.
        if !operation.isPlainBlock || operation.word.lifecycle.contains(.hasDependents) {
            Monitor.shared.wakeIfAsleep()
        }
    }

    /// Notes that more operations could start, but that this thread runs its operation first and then looks. See `Pace`.
    func promiseToReturn() {
        debt.store(true, ordering: .relaxed)
        Monitor.shared.wakeIfAsleep()
    }

    /// Whether this thread is going to look into the queue in any case.
    func owes(_ queue: OperationQueue) -> Bool {
        debt.load(ordering: .relaxed) && frame?.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque()
    }

    /// Passes the debt to another thread, because a step begins that may take long.
    func passOnDebt() {
        guard debt.exchange(false, ordering: .relaxed), let queue = frame?.queue?.takeUnretainedValue() else { return }
        queue.signal.stopAttending()
        queue.callWorkerIfStartable()
    }

    /// Takes the debt from a worker that has not acted on it for too long. Called by the monitor.
    func collectDebt() -> Bool { debt.exchange(false, ordering: .relaxed) }

    var hasDebt: Bool { debt.load(ordering: .relaxed) }
    var operationsDone: UInt { progress.load(ordering: .relaxed) }

    // MARK: - Between operations

    /// Whether the worker should leave the queue: other sources wait for a thread, or there are more threads than the
    /// cores can run.
    func shouldYield(to queue: OperationQueue) -> Bool {
        if shouldRetire.load(ordering: .relaxed) { return shouldRetire.exchange(false, ordering: .relaxed) }
        return pool.othersWait(besides: queue.signal.isCalling) && pool.quantumIsOver(of: self)
    }

    func retireSoon() { shouldRetire.store(true, ordering: .relaxed) }

    // MARK: - Blocking

    /// Runs `wait`, which blocks. Another worker replaces this one meanwhile.
    static func blocking(_ wait: () -> Void) {
        guard let worker = ThreadContext.current.worker else { return wait() }
        worker.passOnDebt()
        worker.pool.workerBlocks(worker)
        wait()
        worker.pool.workerGoesOn(worker)
    }

    // MARK: - Thread

    func spawn(first source: any WorkSource) -> Bool {
        let start = Unmanaged.passRetained(Start(worker: self, source: source))
        let isStarted = cplatform_start_thread({ Worker.main($0.unsafelyUnwrapped) }, start.toOpaque())
        if !isStarted { start.release() }
        return isStarted
    }

    private final class Start {
        let worker: Worker
        var source: (any WorkSource)?
        init(worker: Worker, source: any WorkSource) {
            self.worker = worker
            self.source = source
        }
    }

    private static func main(_ argument: UnsafeMutableRawPointer) {
        let start = Unmanaged<Start>.fromOpaque(argument).takeRetainedValue()
        start.worker.live(&start.source)
    }

    /// Works for a source. The thread holds no reference to the source when this function has returned, however long the
    /// thread sleeps then (rule Q1).
    private func serve(_ source: inout (any WorkSource)?) {
        guard let current = source.take() else { return }
        takeName(current.threadName)
        current.work(on: self)
    }

    private func live(_ source: inout (any WorkSource)?) {
        pool.level.apply()
        let context = ThreadContext.current
        context.worker = self
        pool.workerBegan(self, clock: ThreadClock.current)
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
