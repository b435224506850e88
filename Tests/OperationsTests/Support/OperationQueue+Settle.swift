import Operations
import TestSupport

extension OperationQueue {
    /// Gives events that should not happen the time to happen. As many operations as there are workers meet here three
    /// times, so that each worker has run its loop. Tests wait for expected events, and do not use this function for
    /// them.
    static func settle() {
        let queue = OperationQueue()
        for _ in 0..<3 {
            let meeting = Gate(8)
            queue.maxConcurrentOperationCount = 8
            for _ in 0..<8 { queue.addOperation { meeting.meet() } }
            queue.waitUntilAllOperationsAreFinished()
        }
    }
}
