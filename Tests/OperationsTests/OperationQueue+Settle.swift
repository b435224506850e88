import Operations
import TestSupport

extension OperationQueue {
    /// Gives what should not happen the time to happen: as many operations as there are workers, if little else goes on, meet
    /// here three times, so that each worker has gone round its loop. What should happen is waited for, not settled.
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
