@_spi(Hosting) import KeyValueObserving
import SchedulerCore
import Synchronization

/// The state of an operation that few operations need: name, completion block, waiters, observers. If there are
/// attachments, they also have the dependencies. See `AttachmentsReference`.
///
/// Created when first needed.
final class Attachments: KeyValueRegistrar, @unchecked Sendable {
    // Sendable: `contents` is reached only through `withLock`.
    private let lock = SpinLock()
    @exclusivity(unchecked) private var contents: State

    /// The observed properties, for reading without the lock. The set only grows.
    private let interest = Atomic<UInt32>(0)
    var currentInterest: Interest { Interest(bits: interest.load(ordering: .sequentiallyConsistent)) }

    /// The flips of states that observers were notified of.
    let notifiedFlips = NotifiedFlips()

    override init() {
        contents = State()
        super.init(keptElsewhere: ())
    }

    /// Takes over the edges that the operation has, linked from the newest, before another thread has the attachments.
    func prepare(with edges: Edge?) { contents.dependencies.begin(with: edges) }

    @inline(__always)
    func withLock<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&contents) } }

    /// Creates the extras if there are none. The allocation happens without the lock.
    func withExtras<Result>(_ body: (Extras) -> Result) -> Result {
        let new = Extras()
        return withLock { body($0.extras(orNew: new)) }
    }

    struct State {
        var dependencies = DependencyList()
        // The last byte of the dependencies is a tag, and the small fields follow it. So the attachments are an allocation of
        // 120 bytes, the largest that the C library frees fast.
        /// Whether a thread notifies, or has notified, observers of `isCancelled`.
        var isCancellationNotified = false
        var readinessNotifier = ReadinessNotifier()
        var waiters: [Waiter] = []
        var completionBlock: (@Sendable () -> Void)?
        var extras: Extras?
        /// The observers; empty without observers, and from the beginning of `deinit`.
        var observers = ObserverState()

        mutating func extras(orNew new: Extras) -> Extras {
            if let extras { return extras }
            extras = new
            return new
        }
    }

    /// The state that very few operations need. Separate, because an operation with a completion block or an observer has
    /// attachments. Guarded by the lock of the attachments.
    final class Extras {
        @exclusivity(unchecked) var name: String?
        @exclusivity(unchecked) var threadPriority = 0.5
        @exclusivity(unchecked) var failure: (any Error)?
        /// Whether code has read the failure or the outcome.
        @exclusivity(unchecked) var isFailureSeen = false
        /// The handler of an unread failure.
        @exclusivity(unchecked) var failureHandler: FailureHandler?
        @exclusivity(unchecked) var gates: [any OperationGate] = []
        /// The full queue to which a caller wants to add the operation.
        @exclusivity(unchecked) weak var queueWithoutCapacity: OperationQueue?
        /// The waits of the code of the operation.
        @exclusivity(unchecked) var innerWaits = InnerWaits()
        /// The time of the start, if no worker and no task has it. See `StartTime.swift`.
        @exclusivity(unchecked) var startTime: UInt64?
        /// The number of the operation in events; 0 until the first event.
        @exclusivity(unchecked) var eventID: UInt64 = 0
        /// The observer of properties of other objects that states depend on, if there are such properties.
        @exclusivity(unchecked) var pathFollower: PathFollower?
    }

    // MARK: - Observers

    override var letsGoAtEnd: Bool { true }

    override func step(_ body: (inout ObserverState) -> Void) {
        withLock { body(&$0.observers) }
    }

    override func observingBegins(of object: AnyObject, by observation: Observation) {
        let operation = unsafeDowncast(object, to: Operation.self)
        let added = Interest.of(observation)
        interest.bitwiseOr(added.bits, ordering: .sequentiallyConsistent)
        // Before the observer is registered: changes are announced from here on.
        operation.word.insert(.observed)
        if added.observed.contains(.isReady) { operation.noteReadiness() }
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
        attachmentsReference.load() ?? attachmentsReference.storeIfNil(Attachments())
    }

    /// Releases the edges and the contents of the attachments. Called by `deinit`: no thread has a reference any more.
    @inline(__always)
    final func abandon() {
        if dependents.isUsed { dependents.removeAll() }
        if attachmentsReference.isUsed { abandonParts() }
    }

    @inline(never)
    private final func abandonParts() {
        ThreadContext.withCurrent { context in
            let counted =
                attachmentsReference.withLoaded { abandon($0, in: context) }
                ?? DependencyList.drop(attachmentsReference.newestEdge, into: &context.releases)
            waitForFinishers(counted)
            Release.run(in: context)
        }
    }

    /// Waits until no finishing dependency uses the word of this operation, to decrement the count of dependencies. Each
    /// such thread is a few instructions before that.
    private final func waitForFinishers(_ counted: UInt32) {
        while word.lifecycle.unfinished != counted {
            if !Processor.spin(until: { word.lifecycle.unfinished == counted }) { Processor.yield() }
        }
    }

    /// Releases the contents of the attachments. Returns the number of counted dependencies.
    private final func abandon(_ attachments: Attachments, in context: ThreadContext) -> UInt32 {
        // Removed under the lock, and released without it.
        var dependencies = DependencyList()
        var completionBlock: (@Sendable () -> Void)?
        var extras: Attachments.Extras?
        var observers: ObserverState?
        if word.lifecycle.contains(.hasFailed) { attachments.reportUnhandledFailure() }
        attachments.withLock { state in
            swap(&dependencies, &state.dependencies)
            swap(&completionBlock, &state.completionBlock)
            // Another object may hold the attachments, as the registrar of the operation.
            swap(&extras, &state.extras)
            if state.observers.wasUsed { observers = state.observers.take() }
        }
        let counted = dependencies.drop(into: &context.releases)
        observers?.objectIsGone()
        if observers?.hasChanges == true { Release.add(observers.take() as Any) }
        if completionBlock != nil { Release.add(completionBlock.take() as Any) }
        if extras != nil { Release.add(extras.take() as Any) }
        return counted
    }
}
