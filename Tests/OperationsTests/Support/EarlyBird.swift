import Operations
import Synchronization
import TestSupport

/// Finishes at any time, like ported code with a bug. Counts its calls.
final class EarlyBird: SpellingOperation, @unchecked Sendable {
    let completions = Atomic(0)
    let completed = Gate()
    /// Called inside `isReady`, once.
    let whileAsked = Guarded<(@Sendable (EarlyBird) -> Void)?>(nil)
    /// Called inside `queuePriority`, once.
    let whileAskedForPriority = Guarded<(@Sendable (EarlyBird) -> Void)?>(nil)

    override init(_ spelling: Spelling = .key) {
        super.init(spelling)
        completionBlock = { [unowned self] in
            completions.add(1, ordering: .relaxed)
            completed.open()
        }
    }

    override var isReady: Bool {
        let isReady = super.isReady
        whileAsked.withLock { $0.take() }?(self)
        return isReady
    }

    override var queuePriority: QueuePriority {
        get {
            whileAskedForPriority.withLock { $0.take() }?(self)
            return super.queuePriority
        }
        set { super.queuePriority = newValue }
    }
}
