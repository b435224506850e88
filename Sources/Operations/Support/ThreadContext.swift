import CPlatform
import SchedulerCore

/// What the system knows about the thread it runs on. Only its own thread touches it.
package final class ThreadContext {
    /// The worker whose thread this is. What it runs for its queue is the outermost frame.
    @exclusivity(unchecked) var worker: Worker?
    /// The other operations that run here, innermost last.
    @exclusivity(unchecked) var frames: [Frame] = []
    /// What is to be released by the loop that is under way while `isReleasing`. See `Release`.
    @exclusivity(unchecked) var releases: [Operation] = []
    /// The same for what may have captured operations.
    @exclusivity(unchecked) var captures: [Any] = []
    @exclusivity(unchecked) var isReleasing = false
    /// How many levels of `Descent` are under way, and what is to be done when the outermost one has returned.
    @exclusivity(unchecked) var descent = 0
    @exclusivity(unchecked) var deeperSteps = Ring<() -> Void>()
    /// Operations whom the ledger of resources has something to tell, by the loop that is under way while `isTelling`.
    @exclusivity(unchecked) var toTell = Ring<Operation>()
    @exclusivity(unchecked) var isTelling = false
    /// For what this thread has announced by key paths that are not known, and not yet made.
    @exclusivity(unchecked) var expectedFlips: [ExpectedFlips] = []
    /// What was looked up last; see `DependentStates`.
    @exclusivity(unchecked) var dependentStates: (type: Operation.Type, states: DependentStates)?
    /// An operation that is asked whether it is asynchronous under one of the two names; see `AsynchronousNames`.
    var askedName: ObjectIdentifier?
    /// The operation that `tryStart` starts here, and what the default `start()` found wrong.
    var trial: ObjectIdentifier?
    var foundMisuse: OperationError?
    let parker = Parker()
    #if DEBUG
    @exclusivity(unchecked) var heldLocks = 0
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

    /// What the calling code is part of.
    var innermost: Frame? {
        guard let last = frames.last ?? worker?.frame, last.includesCurrentTask else { return nil }
        return last
    }

    var innermostQueue: Unmanaged<OperationQueue>? {
        guard innermost != nil else { return nil }
        return frames.last { $0.queue != nil }?.queue ?? worker?.frame?.queue
    }

    /// The same, also for a task of an async operation that runs on somebody else's thread.
    var caller: Frame? { innermost ?? .ofCurrentTask }

    /// Everything that the calling code is part of, in no particular order.
    var callerFrames: [Frame] {
        if innermost != nil { return frames + (worker?.frame.map { [$0] } ?? []) }
        return Frame.ofCurrentTask.map { [$0] } ?? []
    }

    /// The operation has said that it runs here. Of the calling code this says nothing.
    func isRunning(_ operation: Operation) -> Bool {
        let sought = Unmanaged.passUnretained(operation).toOpaque()
        return worker?.frame?.operation.toOpaque() == sought || frames.contains { $0.operation.toOpaque() == sought }
    }
}
