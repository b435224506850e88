public import Foundation
public import Operations

#if !canImport(ObjectiveC)
// An operation and a queue are what Foundation calls objects: a subclass can be a delegate, or report progress (rule A5).
// What can be overridden, `isEqual(_:)`, `hash`, `description` and `debugDescription`, stands in the classes themselves.

extension Operation: NSObjectProtocol {
    /// The operation.
    public final func `self`() -> Self { self }

    /// False: the operation stands for nothing else.
    public final func isProxy() -> Bool { false }
}

extension OperationQueue: NSObjectProtocol {
    /// The queue.
    public final func `self`() -> Self { self }

    /// False: the queue stands for nothing else.
    public final func isProxy() -> Bool { false }
}
#endif
