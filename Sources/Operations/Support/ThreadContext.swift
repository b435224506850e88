import CPlatform
import OperationsPrimitives
import SchedulerCore

/// The state of the thread on which the code runs. Only that thread accesses it.
package final class ThreadContext {
    /// The worker of this thread, which the thread holds for longer. Its operation is the outermost frame.
    @exclusivity(unchecked) private var unretainedWorker: Unmanaged<Worker>?
    var worker: Worker? {
        get { unretainedWorker?.takeUnretainedValue() }
        set { unretainedWorker = newValue.map(Unmanaged.passUnretained) }
    }
    /// The other operations that run on this thread, innermost last.
    @exclusivity(unchecked) var frames: [Frame] = []
    /// Objects to release by the loop that runs while `isReleasing` is true. See `Release`.
    @exclusivity(unchecked) var releases: [Operation] = []
    /// Objects to release that may have captured operations.
    @exclusivity(unchecked) var captures: [Any] = []
    @exclusivity(unchecked) var isReleasing = false
    /// The number of levels of `Descent` that run, and the steps to make when the outermost level has returned.
    @exclusivity(unchecked) var descent = 0
    @exclusivity(unchecked) var deeperSteps = Ring<() -> Void>()
    /// The announcements by unknown key paths that this thread has begun and not yet ended.
    @exclusivity(unchecked) var expectedFlips: [ExpectedFlips] = []
    /// The result of the last lookup. See `DependentStates`.
    @exclusivity(unchecked) var dependentStates: (type: Operation.Type, states: Unmanaged<DependentStates>)?
    /// An operation whose property is being read under one of its two names. See `AsynchronousNames`.
    var askedName: ObjectIdentifier?
    /// The task whose yield this thread ends, and the job that resumes it. See `OperationTask.runYield`.
    @exclusivity(unchecked) var yielding: UnsafeMutableRawPointer?
    @exclusivity(unchecked) var yieldedTask: UnownedJob?
    /// The child that this thread adds to a group, and that the group has counted.
    var enteringChild: ObjectIdentifier?
    /// The operation that `tryStart` starts on this thread, and the misuse that the default `start()` has found.
    var trial: ObjectIdentifier?
    var foundMisuse: OperationError?
    #if DEBUG
    @exclusivity(unchecked) var heldLocks = 0
    @exclusivity(unchecked) var primitives = Primitives.Counts()
    #endif

    struct Frame {
        let operation: Unmanaged<Operation>
        let queue: Unmanaged<OperationQueue>?
    }

    private static let key = cplatform_make_key { end($0) }

    @inline(__always)
    package static var current: ThreadContext {
        if let known = cplatform_this_thread().pointee.context {
            return Unmanaged<ThreadContext>.fromOpaque(known).takeUnretainedValue()
        }
        return begin()
    }

    /// Calls `body` with the context of this thread, without counting a reference.
    @inline(__always)
    static func withCurrent<Result>(_ body: (ThreadContext) -> Result) -> Result {
        guard let known = cplatform_this_thread().pointee.context else { return body(begin()) }
        return Unmanaged<ThreadContext>.fromOpaque(known)._withUnsafeGuaranteedRef(body)
    }

    /// Calls `body` with the worker of this thread, if the thread is one, without counting a reference.
    @inline(__always)
    func withWorker<Result>(_ body: (Worker) -> Result) -> Result? { unretainedWorker?._withUnsafeGuaranteedRef(body) }

    @inline(never)
    private static func begin() -> ThreadContext {
        let new = ThreadContext()
        cplatform_this_thread().pointee.context = Unmanaged.passRetained(new).toOpaque()
        cplatform_at_thread_end(key, Unmanaged.passUnretained(new).toOpaque())
        return new
    }

    private static func end(_ known: UnsafeMutableRawPointer) {
        cplatform_this_thread().pointee.context = nil
        Unmanaged<ThreadContext>.fromOpaque(known).release()
    }

    var workerFrame: Frame? { withWorker { $0.frame }.flatMap { $0 } }

    /// The operation and queue that the calling code is part of.
    var innermost: Frame? {
        guard let last = frames.last ?? workerFrame, last.includesCurrentTask else { return nil }
        return last
    }

    var innermostQueue: Unmanaged<OperationQueue>? {
        guard innermost != nil else { return nil }
        return frames.last { $0.queue != nil }?.queue ?? workerFrame?.queue
    }

    /// Whether the operation has recorded that it runs on this thread. The calling code need not be part of the
    /// operation.
    func isRunning(_ operation: Operation) -> Bool {
        let sought = Unmanaged.passUnretained(operation).toOpaque()
        return workerFrame?.operation.toOpaque() == sought || frames.contains { $0.operation.toOpaque() == sought }
    }
}
