/// A rule of a queue for operations that are about to be added: a capacity, the inheritance of priorities.
///
/// The adding thread calls the hooks without a lock. A queue without such policies pays one test, which covers all its
/// `QueueHooks`.
protocol AdditionPolicy: AnyObject, Sendable {
    /// Called when the queue has claimed the operations, and before it lists them. An error refuses all of them. At most one
    /// policy of a queue may refuse, because nothing undoes the changes of the others.
    func mayAdd(_ operations: [Operation], to queue: OperationQueue) throws(OperationError)

    /// Called when the operation is going to be added, before the queue lists it.
    func willAdd(_ operation: Operation, to queue: OperationQueue)
}

extension AdditionPolicy {
    func mayAdd(_ operations: [Operation], to queue: OperationQueue) throws(OperationError) {}
    func willAdd(_ operation: Operation, to queue: OperationQueue) {}
}

extension OperationQueue {
    /// The policies of the queue for new operations.
    var additionPolicies: [any AdditionPolicy] { hooks.load()?.additionPolicies ?? [] }

    /// Returns the policy of a type; nil if the queue has none.
    func additionPolicy<Policy: AdditionPolicy>(_ type: Policy.Type) -> Policy? {
        for case let policy as Policy in additionPolicies { return policy }
        return nil
    }
}
