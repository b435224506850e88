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
    // Sendable: `frame` and `namedFor` belong to the worker's own thread; `census` to its pool's lock; the
    // rest is atomic or constant.
    let pool: WorkerPool
    let parker = Parker()
    /// The operation this thread has claimed and runs, and its queue.
    @exclusivity(unchecked) private(set) var frame: ThreadContext.Frame?
    private var namedFor: String?
    /// The operation it runs has ended and left a slot that this thread has promised to fill when `start()` returns.
    ///
    /// So a chain stays on one thread, and a serial queue wakes nobody between two operations. The promise is passed on
    /// before anything that may take time: a completion block, a wait. What is left, an override of `start()` that goes
    /// on after `super.start()`, is noticed by the monitor.
    private let debt = Atomic<Bool>(false)
    /// Counts operations; the monitor tells by it whether the worker moves.
    private let progress = Atomic<UInt>(0)
    private let shouldRetire = Atomic<Bool>(false)
    /// What the pool knows about it.
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

    /// The operation ends on this thread, inside its `start()`: from here on the worker looks for the next one itself.
    func willFinish(_ operation: Operation) {
        guard frame?.operation.toOpaque() == Unmanaged.passUnretained(operation).toOpaque() else { return }
        debt.store(true, ordering: .relaxed)
        // Nothing of the user's can follow in the `start()` of the system's own classes, but in what depends on it: an
        // overridden `isReady`, or who observes it.
        if !operation.isPlainBlock || operation.word.lifecycle.contains(.hasDependents) {
            Monitor.shared.wakeIfAsleep()
        }
    }

    /// More could start, but this thread runs its operation first and then looks; see `Pace`.
    func promiseToReturn() {
        debt.store(true, ordering: .relaxed)
        Monitor.shared.wakeIfAsleep()
    }

    /// This thread is about to look into the queue in any case.
    func owes(_ queue: OperationQueue) -> Bool {
        debt.load(ordering: .relaxed) && frame?.queue?.toOpaque() == Unmanaged.passUnretained(queue).toOpaque()
    }

    /// Something that may take time begins: somebody else keeps the promise.
    func passOnDebt() {
        guard debt.exchange(false, ordering: .relaxed), let queue = frame?.queue?.takeUnretainedValue() else { return }
        queue.signal.stopAttending()
        queue.callWorkerIfStartable()
    }

    /// The monitor has seen the promise unkept for too long.
    func collectDebt() -> Bool { debt.exchange(false, ordering: .relaxed) }

    var hasDebt: Bool { debt.load(ordering: .relaxed) }
    var operationsDone: UInt { progress.load(ordering: .relaxed) }

    // MARK: - Between operations

    /// Others wait for a thread, or there are more threads than cores have work for.
    func shouldYield(to queue: OperationQueue) -> Bool {
        if shouldRetire.load(ordering: .relaxed) { return shouldRetire.exchange(false, ordering: .relaxed) }
        return pool.othersWait(besides: queue.signal.isCalling) && pool.quantumIsOver(of: self)
    }

    func retireSoon() { shouldRetire.store(true, ordering: .relaxed) }

    // MARK: - Blocking

    /// Runs `wait`, which blocks; a worker that does so is replaced meanwhile.
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

    /// When this has returned the thread holds the source no longer, however long it sleeps then (rule Q1).
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

    /// Linux keeps 15 bytes of a thread's name.
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
