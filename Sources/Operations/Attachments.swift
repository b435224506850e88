import SchedulerCore
import Synchronization

/// What an operation has that most have not: dependencies and dependents, a name, a completion block, waiters.
///
/// Made when first needed. An operation's dependencies hold it too, in place of the operation: so a dependent can be
/// released early, and its dependency finds `operation` gone instead of a dangling pointer (rule D6).
final class Attachments: @unchecked Sendable {
    // Sendable: `contents` is reached only through `withLock`.
    private let lock = SpinLock()
    @exclusivity(unchecked) private var contents: State

    /// The operation is gone. Read by dependencies that tidy their dependents, without taking this lock under theirs.
    let isAbandoned = Atomic(false)

    init(of operation: Operation) { contents = State(operation: Unmanaged.passUnretained(operation)) }

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
        var watchers: [Watcher] = []
    }

    /// Somebody who wants to know what an operation announces, in the order given. The place where observing joins the flow.
    struct Watcher: Sendable {
        let id: Int
        let tell: @Sendable (_ change: Change, _ property: ObservedProperty, _ operation: Operation) -> Void

        enum Change: Sendable { case will, did }
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
            let others = (state.dependents, state.completionBlock, state.watchers)
            state.dependents = SmallArray()
            state.completionBlock = nil
            state.watchers = []
            dependencies = state.readiness.removeAll()
            return others
        }
        withExtendedLifetime(others) {}
        Release.later(&dependencies)
    }
}
