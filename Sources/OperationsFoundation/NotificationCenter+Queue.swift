public import Foundation
public import Operations

extension NotificationCenter {
    /// Adds a block that a queue runs for each notification, like the member of the same name that takes Foundation's queue.
    ///
    /// The poster waits until the block has run. If the poster is part of an operation of the queue, or is on the main thread and the
    /// queue is the main queue, the block runs at once on the thread of the poster. With nil, or `.main` without the name of a type, Swift chooses Foundation's member.
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
            let operation = BlockOperation { block(notification) }
            do throws(OperationError) {
                try queue.tryAddOperations([operation], waitUntilFinished: true)
            } catch .waitsForMainQueue, .waitsInsideSerialQueue {
                block(notification)
            } catch {
                queue.addOperations([operation], waitUntilFinished: true)
            }
        }
    }
}
