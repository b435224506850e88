public import Foundation
public import Operations

#if !canImport(ObjectiveC)
// Operations and queues conform to `NSObjectProtocol`, so a subclass can be a delegate or report progress. The
// members that can be overridden (`isEqual(_:)`, `hash`, `description` and `debugDescription`) are declared in the classes.

extension Operation: NSObjectProtocol {
    /// Returns the operation.
    public final func `self`() -> Self { self }

    /// Returns false, because the operation is not a proxy of another object.
    public final func isProxy() -> Bool { false }
}

extension OperationQueue: NSObjectProtocol {
    /// Returns the queue.
    public final func `self`() -> Self { self }

    /// Returns false, because the queue is not a proxy of another object.
    public final func isProxy() -> Bool { false }
}
#endif
