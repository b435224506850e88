#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A gate that blocks threads until it opens. It uses primitives that ThreadSanitizer understands.
package final class Gate: @unchecked Sendable {
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var arrivals = 0
    private var needed: Int

    /// Creates a gate that opens at the given number of calls of `open()`.
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

    /// Waits until `needed` threads have called this function.
    package func meet() {
        open()
        pass()
    }
}
