import class Foundation.Thread

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The thread on which code runs.
struct ThreadIdentity: Equatable, Sendable {
    private let value: UInt

    static var current: ThreadIdentity { ThreadIdentity() }

    private init() {
        #if canImport(Darwin)
        value = UInt(bitPattern: pthread_self())
        #else
        value = UInt(pthread_self())
        #endif
    }
}

/// A thread that runs closures in order, like a thread with a run loop.
final class LoopThread: @unchecked Sendable {
    // Sendable: `work` is guarded by `mutex`; the pointers are constants.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var work: [(@Sendable () -> Void)?] = []

    init() {
        mutex.initialize(to: pthread_mutex_t())
        condition.initialize(to: pthread_cond_t())
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(condition, nil)
        Thread { [self] in
            while let body = next() { body() }
        }.start()
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    func perform(_ body: @escaping @Sendable () -> Void) { append(body) }

    /// Ends the thread after the closures that it has received.
    func stop() { append(nil) }

    private func append(_ body: (@Sendable () -> Void)?) {
        pthread_mutex_lock(mutex)
        work.append(body)
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }

    private func next() -> (@Sendable () -> Void)? {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        while work.isEmpty { pthread_cond_wait(condition, mutex) }
        return work.removeFirst()
    }
}
