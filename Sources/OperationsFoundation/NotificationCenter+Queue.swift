public import Foundation
public import Operations

extension NotificationCenter {
    /// Adds a block that a queue runs for each notification, like the member of the same name that takes Foundation's queue.
    ///
    /// The poster waits until the block has run. If an operation of the queue posts the notification, the block runs at once on its
    /// thread. With nil, or `.main` without the name of a type, Swift chooses Foundation's member.
    ///
    /// - Parameters:
    ///   - name: The name of the notifications; nil for any.
    ///   - object: The sender of the notifications; nil for any.
    ///   - queue: The queue that runs the block.
    ///   - block: The block. It receives the notification.
    /// - Returns: The observer, for `removeObserver(_:)`.
    @_disfavoredOverload
    public func addObserver(
        forName name: Notification.Name?, object: Any?, queue: Operations.OperationQueue,
        using block: @escaping @Sendable (Notification) -> Void
    ) -> any NSObjectProtocol {
        addObserver(forName: name, object: object, queue: nil as Foundation.OperationQueue?) { notification in
            if Operations.OperationQueue.current === queue { return block(notification) }
            // The poster waits, so only one thread uses the notification at a time.
            nonisolated(unsafe) let notification = notification
            queue.addOperations([BlockOperation { block(notification) }], waitUntilFinished: true)
        }
    }
}
