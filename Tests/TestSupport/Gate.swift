#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Closed until opened; everybody passes from then on. Made of what ThreadSanitizer sees.
package final class Gate: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var arrivals = 0
    private var needed: Int

    /// A gate that opens at the given number of `open()`.
    package init(_ needed: Int = 1) {
        self.needed = needed
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

    package func open() {
        pthread_mutex_lock(mutex)
        arrivals += 1
        pthread_cond_broadcast(condition)
        pthread_mutex_unlock(mutex)
    }

    package func pass() {
        pthread_mutex_lock(mutex)
        while arrivals < needed { pthread_cond_wait(condition, mutex) }
        pthread_mutex_unlock(mutex)
    }

    /// One of `needed` parties that meet here.
    package func meet() {
        open()
        pass()
    }
}
