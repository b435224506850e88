import CProfile
import Glibc
import Operations

/// A program for `Scripts/walk`: counts the functions that run from `addOperation` to the completion block.
@main
struct Walk {
    static func main() {
        let queue = OperationQueue()
        // Workers and monitor exist, and all of them sleep again, when the counters begin.
        for _ in 0..<3 { queue.addOperation { @Sendable in } }
        queue.waitUntilAllOperationsAreFinished()
        sleep(1)
        let operation = BlockOperation { @Sendable in }
        operation.completionBlock = { @Sendable in
            cprofile_write()
            // Not `exit`: the runtime would write the counters of the whole process over the file.
            _exit(0)
        }
        cprofile_reset()
        queue.addOperation(operation)
        while true { pause() }
    }
}
