#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
import Dispatch
@testable import Operations
import SchedulerCore
import TestSupport

/// Data of the system about this process and thread.
enum LifeProcess {
    static var threadCount: Int {
        #if os(Linux)
        var count = 0
        guard let directory = opendir("/proc/self/task") else { return 0 }
        while readdir(directory) != nil { count += 1 }
        closedir(directory)
        return count - 2
        #else
        0
        #endif
    }

    #if os(Linux)
    /// The nice value of this thread.
    static var niceness: Int32 { Niceness.ofThread }

    /// The nice value of the first thread. Other threads may differ: threads of Dispatch have the value of their creator.
    static var ownNiceness: Int32 { Niceness.ofProcess }
    #endif
}

/// Whether this is a dispatch queue made by `serial`.
enum DispatchMark {
    static let key = DispatchSpecificKey<Bool>()
    static var isHere: Bool { DispatchQueue.getSpecific(key: key) == true }
}

extension DispatchQueue {
    static func serial(_ label: String) -> DispatchQueue {
        let queue = DispatchQueue(label: label)
        queue.setSpecific(key: DispatchMark.key, value: true)
        return queue
    }
}

extension Operation {
    /// For a task that waits as a thread does: its thread is blocked.
    func waitBlocking() { waitUntilFinished() }

    /// Whether a waiter has begun to wait for the operation.
    var isAwaited: Bool { word.lifecycle.contains(.hasWaiters) }
}

extension OperationQueue {
    /// `tryAddOperations` for a task.
    func addBatch(_ operations: [Operation]) throws(OperationError) {
        try tryAddOperations(operations, waitUntilFinished: false)
    }

    /// The lane of an operation among the waiting ones.
    func lane(of operation: Operation) -> PriorityLane { operation.word.lifecycle.effectivePriority }

    /// `settle` for a task.
    static func settleAsync() async {
        await withUnsafeContinuation { continuation in
            _ = TestThread {
                settle()
                continuation.resume()
            }
        }
    }
}
