#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The place where one thread sleeps. A call of `unpark` before `park` is remembered once.
///
/// The implementation uses a mutex and a condition variable in place of a Dispatch semaphore: ThreadSanitizer sees them,
/// and they can wait with a time limit on the monotonic clock.
package final class Parker: @unchecked Sendable {
    // Sendable: `isSignalled` is guarded by `mutex`; the pointers are constants.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let condition = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    private var isSignalled = false

    package init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        condition.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(condition, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(condition, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(condition)
        pthread_mutex_destroy(mutex)
        condition.deallocate()
        mutex.deallocate()
    }

    /// Sleeps until `unpark` is called. Returns at once if `unpark` was called before.
    package func park() {
        pthread_mutex_lock(mutex)
        while !isSignalled { pthread_cond_wait(condition, mutex) }
        isSignalled = false
        pthread_mutex_unlock(mutex)
    }

    /// Sleeps until `unpark` is called or the limit is reached. False: the limit was reached first.
    package func park(nanoseconds limit: UInt64) -> Bool {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        #if canImport(Darwin)
        var rest = timespec(nanoseconds: limit)
        #else
        var deadline = timespec(nanoseconds: MonotonicClock.deadline(after: limit))
        #endif
        while !isSignalled {
            #if canImport(Darwin)
            let result = pthread_cond_timedwait_relative_np(condition, mutex, &rest)
            #else
            let result = pthread_cond_timedwait(condition, mutex, &deadline)
            #endif
            // `ETIMEDOUT`, or a deadline that a faked clock rejects.
            if result != 0 { break }
        }
        defer { isSignalled = false }
        return isSignalled
    }

    package func unpark() {
        pthread_mutex_lock(mutex)
        isSignalled = true
        // Signaled under the mutex, because the sleeper may free this parker as soon as it has seen the flag.
        pthread_cond_signal(condition)
        pthread_mutex_unlock(mutex)
    }
}

extension timespec {
    fileprivate init(nanoseconds: UInt64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }

    /// The time in nanoseconds; 0 for a time before the start, and at most `Int64.max`. Programs under libfaketime, in a time
    /// namespace or restored by CRIU may see any time (rule A19).
    var wholeNanoseconds: UInt64 {
        guard tv_sec >= 0 else { return 0 }
        let seconds = Int64(tv_sec).multipliedReportingOverflow(by: 1_000_000_000)
        let sum = seconds.partialValue.addingReportingOverflow(Int64(tv_nsec))
        return seconds.overflow || sum.overflow ? UInt64(Int64.max) : UInt64(max(0, sum.partialValue))
    }
}

/// A clock that usually never goes back. If it does, or stands still, waits take longer, and nothing else happens.
package enum MonotonicClock {
    /// Nanoseconds since an arbitrary start.
    package static var now: UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return time.wholeNanoseconds
    }

    /// `now` at the last tick of the kernel, up to 10 ms ago. Takes a quarter of the time.
    static var coarse: UInt64 {
        #if canImport(Darwin)
        return clock_gettime_nsec_np(CLOCK_MONOTONIC_RAW_APPROX)
        #else
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC_COARSE, &time)
        return time.wholeNanoseconds
        #endif
    }

    /// The nanoseconds since an instant; 0 if the clock has gone back.
    package static func elapsed(since start: UInt64) -> UInt64 {
        let now = now
        return now > start ? now - start : 0
    }

    /// Returns the instant this many nanoseconds from now, or the largest instant.
    package static func deadline(after nanoseconds: UInt64) -> UInt64 {
        let (instant, isTooLate) = now.addingReportingOverflow(nanoseconds)
        return isTooLate ? .max : instant
    }
}
