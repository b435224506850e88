@_spi(Hosting) import KeyValueObserving
import SchedulerCore
import Synchronization

/// The state of an operation that few operations need: dependencies, dependents, name, completion block, waiters,
/// observers.
///
/// Created when first needed. The dependencies of an operation hold its attachments in place of the operation. So a
/// dependent can be released early, and its dependency then finds that `operation` is nil, not a dangling pointer (rule
/// D6).
final class Attachments: KeyValueRegistrar, @unchecked Sendable {
    // Sendable: `contents` is reached only through `withLock`.
    private let lock = SpinLock()
    @exclusivity(unchecked) private var contents: State

    /// Whether the operation is released. Dependencies read it when they sweep their dependents, without this lock.
    let isAbandoned = Atomic(false)

    /// The observed properties, for reading without the lock. The set only grows.
    private let interest = Atomic<UInt32>(0)
    var currentInterest: Interest { Interest(bits: interest.load(ordering: .sequentiallyConsistent)) }

    /// The flips of states that observers were notified of.
    let notifiedFlips = NotifiedFlips()

    init(of operation: borrowing Operation) {
        contents = State(operation: Unmanaged.passUnretained(operation))
        super.init(keptElsewhere: ())
    }

    @inline(__always)
    func withLock<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&contents) } }

    /// Creates the extras if there are none. The allocation happens without the lock.
    func withExtras<Result>(_ body: (Extras) -> Result) -> Result {
        let new = Extras()
        return withLock { body($0.extras(orNew: new)) }
    }

    struct State {
        /// The operation; nil from the beginning of `deinit`, which takes the lock for that. So under the lock the memory
        /// is valid.
        var operation: Unmanaged<Operation>?
        var readiness = Readiness<Operation>()
        var dependents = SmallArray<Attachments>()
        /// The number of dependents at which abandoned dependents are removed next.
        var sweepLimit: UInt32 = 32
        /// Whether the dependents were notified of the end, or will never be.
        var isClosed = false
        /// Whether the operation has or had an observer.
        var isObserved = false
        /// Whether a thread notifies, or has notified, observers of `isCancelled`.
        var isCancellationNotified = false
        var readinessNotifier = ReadinessNotifier()
        var waiters: [Waiter] = []
        var completionBlock: (@Sendable () -> Void)?
        var extras: Extras?
        /// The observers; empty without observers, and from the beginning of `deinit`.
        var observers = ObserverState()
        /// The operation, if `isReady` is observed: a finishing dependency has to hold it while it notifies the
        /// observers.
        var weakOperation: WeakOperation?

        mutating func extras(orNew new: Extras) -> Extras {
            if let extras { return extras }
            extras = new
            return new
        }
    }

    /// The state that very few operations need. Separate, because memory limits the size of graphs, and each operation of
    /// a graph has attachments. Guarded by the lock of the attachments.
    final class Extras {
        @exclusivity(unchecked) var name: String?
        @exclusivity(unchecked) var threadPriority = 0.5
        @exclusivity(unchecked) var failure: (any Error)?
        /// Whether code has read the failure or the outcome.
        @exclusivity(unchecked) var isFailureSeen = false
        /// The handler of an unread failure.
        @exclusivity(unchecked) var failureHandler: FailureHandler?
        @exclusivity(unchecked) var gates: Gates?
        /// The full queue to which a caller wants to add the operation.
        @exclusivity(unchecked) weak var queueWithoutCapacity: OperationQueue?
        /// The operations that this operation waits for while it runs, if any queue inherits priorities.
        @exclusivity(unchecked) var awaited: [Operation] = []
        /// The number of the operation in events; 0 until the first event.
        @exclusivity(unchecked) var eventID: UInt64 = 0
        /// The observer of properties of other objects that states depend on, if there are such properties.
        @exclusivity(unchecked) var pathFollower: PathFollower?
    }

    final class WeakOperation {
        weak let operation: Operation?
        init(_ operation: Operation) { self.operation = operation }
    }

    // MARK: - Observers

    override var letsGoAtEnd: Bool { true }

    override func step(_ body: (inout ObserverState) -> Void) {
        withLock { body(&$0.observers) }
    }

    override func observingBegins(of object: AnyObject, by observation: Observation) {
        let operation = unsafeDowncast(object, to: Operation.self)
        let added = Interest(of: observation)
        let isReadyObserved = added.observed.contains(.isReady)
        let weakOperation = isReadyObserved ? WeakOperation(operation) : nil
        withLock { state in
            state.isObserved = true
            if state.weakOperation == nil { state.weakOperation = weakOperation }
        }
        interest.bitwiseOr(added.bits, ordering: .sequentiallyConsistent)
        // Before the observer is registered: changes are announced from here on.
        operation.word.insert(.observed)
        if isReadyObserved { operation.noteReadiness() }
    }

    override func willAnnounce(_ name: String?, _ keyPath: AnyKeyPath?, of object: AnyObject) {
        unsafeDowncast(object, to: Operation.self).willAnnounceGenerically(name, keyPath)
    }

    override func didAnnounce(_ name: String?, _ keyPath: AnyKeyPath?, of object: AnyObject) {
        unsafeDowncast(object, to: Operation.self).didAnnounceGenerically(name, keyPath)
    }
}

extension Operation {
    final var attachments: Attachments? { attachmentsReference.load() }

    /// The attachments. Created now if there are none.
    final var ownAttachments: Attachments {
        attachmentsReference.load() ?? attachmentsReference.storeIfNil(Attachments(of: self))
    }

    /// Ends the use of the attachments, which dependencies may still hold. Called by `deinit`: no thread has a reference
    /// any more.
    final func abandon() {
        attachmentsReference.withLoaded { abandon($0) }
    }

    private final func abandon(_ attachments: Attachments) {
        attachments.isAbandoned.store(true, ordering: .releasing)
        // Removed under the lock, and released without it.
        let context = ThreadContext.current
        var dependents = SmallArray<Attachments>()
        var completionBlock: (@Sendable () -> Void)?
        var extras: Attachments.Extras?
        var observers: ObserverState?
        if word.lifecycle.contains(.hasFailed) { attachments.reportUnhandledFailure() }
        attachments.withLock { state in
            state.operation = nil
            swap(&dependents, &state.dependents)
            swap(&completionBlock, &state.completionBlock)
            // Dependencies hold the attachments for an unlimited time.
            swap(&extras, &state.extras)
            state.readiness.removeAll(into: &context.releases)
            if state.isObserved { observers = state.observers.take() }
        }
        observers?.objectIsGone()
        if observers != nil { Release.add(observers.take() as Any) }
        if completionBlock != nil { Release.add(completionBlock.take() as Any) }
        if extras != nil { Release.add(extras.take() as Any) }
        Release.run(in: context)
    }
}
