#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A notification that wakes a thread at each event, so that the thread can check its condition.
package final class Notice: @unchecked Sendable {
    // Sendable: the count is used only under `mutex`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var count = 0

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Posts an event.
    package func post() {
        pthread_mutex_lock(mutex)
        count += 1
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    /// Waits until the condition is true. The function checks the condition at first and after each event. It returns false if
    /// the condition is not true after this number of seconds.
    package func wait(atMost seconds: Int, until isTrue: () -> Bool) -> Bool {
        var end = timespec()
        clock_gettime(CLOCK_REALTIME, &end)
        end.tv_sec += time_t(seconds)
        while true {
            let seen = read { count }
            if isTrue() { return true }
            let hasHappened = read {
                while count == seen {
                    guard pthread_cond_timedwait(condition, mutex, &end) == 0 else { return false }
                }
                return true
            }
            guard hasHappened else { return isTrue() }
        }
    }

    private func read<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }
}
