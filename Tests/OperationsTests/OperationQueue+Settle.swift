import Operations
import TestSupport

extension OperationQueue {
    /// Returns when the workers have let go of what they ran for others: a worker that runs something new has.
    ///
    /// As many operations as there may be workers meet here, so that each worker has gone round its loop.
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
