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

    init(of operation: Operation) {
        contents = State(operation: Unmanaged.passUnretained(operation))
        super.init(keptElsewhere: ())
    }

    @inline(__always)
    func withLock<Result>(_ body: (inout State) -> Result) -> Result { lock.withLock { body(&contents) } }

    struct State {
        /// nil from the beginning of `deinit`, which takes the lock for it: under the lock, the memory is there.
        var operation: Unmanaged<Operation>?
        var readiness = Readiness<Operation>()
        var dependents = SmallArray<Attachments>()
        /// The count at which abandoned dependents are swept out next.
        var sweepLimit = 32
        /// The dependents have been told, or will never be.
        var isClosed = false
        var waiters: [Waiter] = []
        var completionBlock: (@Sendable () -> Void)?
        var name: String?
        var threadPriority = 0.5
        var observers = ObserverState()
        var readinessTelling = ReadinessTelling()
        /// Set when somebody observes: a dependency that finishes has to hold the operation while it tells.
        weak var observed: Operation?
    }

    // MARK: - Observers

    override func step(_ body: (inout ObserverState) -> Void) { withLock { body(&$0.observers) } }

    override func observingBegins(of object: AnyObject) {
        let operation = unsafeDowncast(object, to: Operation.self)
        withLock { $0.observed = operation }
        // Before it is registered: from here on changes are announced.
        operation.word.insert(.observed)
        operation.announceReadiness()
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
        guard let attachments else { return }
        attachments.isAbandoned.store(true, ordering: .releasing)
        var dependencies: [Operation] = []
        let others = attachments.withLock { state in
            state.operation = nil
            let others = (state.dependents, state.completionBlock, state.observers)
            state.dependents = SmallArray()
            state.completionBlock = nil
            state.observers = ObserverState()
            dependencies = state.readiness.removeAll()
            return others
        }
        others.2.objectIsGone()
        withExtendedLifetime(others) {}
        Release.later(&dependencies)
    }
}
