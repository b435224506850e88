@_spi(Hosting) import KeyValueObserving
import SchedulerCore
import Synchronization

/// What an operation has that most have not: dependencies and dependents, a name, a completion block, waiters, observers.
///
/// Made when first needed. An operation's dependencies hold it too, in place of the operation: so a dependent can be
/// released early, and its dependency finds `operation` gone instead of a dangling pointer (rule D6).
final class Attachments: KeyValueObservers, @unchecked Sendable {
    // Sendable: `contents` is reached only through `withLock`.
    private let lock = SpinLock()
    @exclusivity(unchecked) private var contents: State

    /// The operation is gone. Read by dependencies that tidy their dependents, without taking this lock under theirs.
    let isAbandoned = Atomic(false)

    /// What is observed, for a look without the lock. Only grows.
    private let interest = Atomic<UInt32>(0)
    var currentInterest: Interest { Interest(bits: interest.load(ordering: .sequentiallyConsistent)) }

    /// Which flips of states observers have been told of.
    let toldFlips = ToldFlips()

    init(of operation: borrowing Operation) {
        contents = State(operation: Unmanaged.passUnretained(operation))
        super.init(keptElsewhere: ())
    }

    @inline(__always)
    func withLock<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&contents) } }

    /// Makes the extras if there are none: without the lock, for that allocates.
    func withExtras<Result>(_ body: (Extras) -> Result) -> Result {
        let new = Extras()
        return withLock { body($0.extras(orNew: new)) }
    }

    struct State {
        /// nil from the beginning of `deinit`, which takes the lock for it: under the lock, the memory is there.
        var operation: Unmanaged<Operation>?
        var readiness = Readiness<Operation>()
        var dependents = SmallArray<Attachments>()
        /// The count at which abandoned dependents are swept out next.
        var sweepLimit: UInt32 = 32
        /// The dependents have been told, or will never be.
        var isClosed = false
        /// Somebody observes, or did.
        var isObserved = false
        /// A thread tells, or has told, of `isCancelled`.
        var isCancellationTold = false
        var readinessTelling = ReadinessTelling()
        var waiters: [Waiter] = []
        var completionBlock: (@Sendable () -> Void)?
        var extras: Extras?
        /// Empty if nobody has observed, and from the beginning of `deinit`.
        var observers = ObserverState()
        /// The operation, if `isReady` is observed: a dependency that finishes has to hold it while it tells.
        var weakOperation: WeakOperation?

        mutating func extras(orNew new: Extras) -> Extras {
            if let extras { return extras }
            extras = new
            return new
        }
    }

    /// What few operations have is kept apart: graphs are bound by memory, and each has attachments for each operation.
    /// Guarded by the lock of the attachments.
    final class Extras {
        @exclusivity(unchecked) var name: String?
        @exclusivity(unchecked) var threadPriority = 0.5
        @exclusivity(unchecked) var failure: (any Error)?
        /// Somebody has looked at the failure, or how it ended.
        @exclusivity(unchecked) var isFailureSeen = false
        /// Who is told of a failure that nobody has looked at.
        @exclusivity(unchecked) var failureHandler: FailureHandler?
        @exclusivity(unchecked) var gates: Gates?
        /// What it waits for while it runs, if anybody ever lends priorities.
        @exclusivity(unchecked) var awaited: [Operation] = []
        /// What follows the properties of other objects that states depend on, if any do.
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
        // Before it is registered: from here on changes are announced.
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

    /// The attachments, made now if need be.
    final var ownAttachments: Attachments {
        attachmentsReference.load() ?? attachmentsReference.storeIfNil(Attachments(of: self))
    }

    /// `deinit`: nobody can have a reference any more, but dependencies still hold the attachments.
    final func abandon() {
        attachmentsReference.withLoaded { abandon($0) }
    }

    private final func abandon(_ attachments: Attachments) {
        attachments.isAbandoned.store(true, ordering: .releasing)
        // Taken out under the lock, and released without it.
        let context = ThreadContext.current
        var dependents = SmallArray<Attachments>()
        var completionBlock: (@Sendable () -> Void)?
        var extras: Attachments.Extras?
        var observers: ObserverState?
        if word.lifecycle.contains(.hasFailed) { attachments.tellUnseenFailure() }
        attachments.withLock { state in
            state.operation = nil
            swap(&dependents, &state.dependents)
            swap(&completionBlock, &state.completionBlock)
            // Its dependencies hold the attachments, for as long as they like.
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
