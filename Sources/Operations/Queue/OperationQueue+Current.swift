#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif
import CPlatform

extension OperationQueue {
    /// The innermost queue whose operation runs on this thread; otherwise the main queue on the main thread (rule Q9).
    static var currentQueue: OperationQueue? {
        if let queue = ThreadContext.current.innermostQueue {
            return queue.takeUnretainedValue()
        }
        return isMainThread ? MainQueue.shared : nil
    }

    private static var isMainThread: Bool {
        #if canImport(Darwin)
        pthread_main_np() != 0
        #else
        cplatform_thread_id() == getpid()
        #endif
    }
}

/// The queue of the main thread.
enum MainQueue {
    static let shared = OperationQueue(kind: .main)
}
