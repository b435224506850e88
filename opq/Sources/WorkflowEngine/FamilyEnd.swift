import Operations
import Synchronization

/// The end of a family, which the operations after the family depend on.
///
/// It is in no queue, and counts as executing until the last member has ended. The last member ends it on its own thread. An
/// operation in a queue would need another worker. Meanwhile, operations of a lower priority could start before the
/// dependents are ready.
final class FamilyEnd: Operation, @unchecked Sendable {
    // Sendable: an atomic.
    private let unfinishedMembers: Atomic<Int>
    private let whenEnded: (@Sendable () -> Void)?

    /// Creates the end of a family.
    ///
    /// - Parameter whenEnded: Called on the thread of the last member.
    init(memberCount: Int, whenEnded: (@Sendable () -> Void)? = nil) {
        self.whenEnded = whenEnded
        unfinishedMembers = Atomic(memberCount)
        super.init()
    }

    override var isAsynchronous: Bool { true }
    // Until the library has noticed the end. A stall report would otherwise say that this operation is in no queue.
    override var isExecuting: Bool { !super.isFinished }
    override var isFinished: Bool { unfinishedMembers.load(ordering: .acquiring) == 0 }

    /// Counts a member that has ended. The caller has recorded its outcome.
    func memberHasEnded() {
        guard unfinishedMembers.subtract(1, ordering: .acquiringAndReleasing).newValue == 0 else { return }
        willChangeValue(forKey: "isFinished")
        didChangeValue(forKey: "isFinished")
        whenEnded?()
    }
}
