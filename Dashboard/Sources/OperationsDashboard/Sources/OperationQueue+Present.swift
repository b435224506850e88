import Operations

/// The compiler warns about each use of `operations`, because such a list is out of date at once. A page shows one moment.
private protocol Present { var operations: [Operation] { get } }

extension OperationQueue: Present {}

extension OperationQueue {
    /// The operations that are in the queue now.
    var presentOperations: [Operation] { (self as any Present).operations }
}
