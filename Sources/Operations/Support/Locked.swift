#if canImport(Glibc)
package import Glibc
#elseif canImport(Musl)
package import Musl
#elseif canImport(Darwin)
package import Darwin
#endif

/// A value behind a lock, in one allocation.
///
/// The lock is a `pthread_mutex_t` at a fixed address (`os_unfair_lock` on Apple's systems). `Synchronization.Mutex` has
/// two disadvantages. ThreadSanitizer does not see its slow path, and reports races on the guarded value. Under
/// contention it costs two to three times as much.
///
/// Two rules apply. A thread holds at most one lock. While it holds a lock, it calls no user code, and neither retains
/// nor releases objects of the user. Debug builds stop when a thread takes a second lock.
///
/// Inlinable for the other modules of the package. Otherwise each of their locks would need the metadata of its value.
package struct Locked<Value>: @unchecked Sendable {
    // Sendable, because `Value` is accessed only inside `withLock`.
    #if canImport(Darwin)
    @usableFromInline typealias Lock = os_unfair_lock
    #else
    @usableFromInline typealias Lock = pthread_mutex_t
    #endif

    /// A buffer whose header is the value and whose single element is the lock. The buffer destroys the value itself.
    @usableFromInline
    final class Storage: ManagedBuffer<Value, Lock> {
        #if !canImport(Darwin)
        @inlinable
        deinit { _ = withUnsafeMutablePointerToElements { pthread_mutex_destroy($0) } }
        #endif
    }

    @usableFromInline let storage: ManagedBuffer<Value, Lock>

    @inlinable
    package init(_ value: consuming Value) {
        let initial = value
        storage = Storage.create(minimumCapacity: 1) { buffer in
            buffer.withUnsafeMutablePointerToElements { lock in
                #if canImport(Darwin)
                lock.initialize(to: os_unfair_lock())
                #else
                lock.initialize(to: pthread_mutex_t())
                var attributes = pthread_mutexattr_t()
                pthread_mutexattr_init(&attributes)
                // Sections are short, so a thread that meets another one spins briefly before it sleeps in the kernel.
                #if canImport(Glibc)
                pthread_mutexattr_settype(&attributes, Int32(PTHREAD_MUTEX_ADAPTIVE_NP))
                #endif
                pthread_mutex_init(lock, &attributes)
                pthread_mutexattr_destroy(&attributes)
                #endif
            }
            return initial
        }
    }

    @inlinable @inline(__always)
    package func withLock<Result>(_ body: (inout Value) -> Result) -> Result {
        let value = lock()
        defer { unlock() }
        return body(&value.pointee)
    }

    /// Replaces the value. Returns the old one, which the caller releases without the lock.
    @inlinable
    @discardableResult
    package func exchange(_ new: consuming Value) -> Value {
        var value = new
        withLock { swap(&$0, &value) }
        return value
    }

    /// Takes the lock, and returns the address of the value, which is valid until `unlock`.
    @inlinable @inline(__always)
    package func lock() -> UnsafeMutablePointer<Value> {
        storage.withUnsafeMutablePointers { value, lock in
            HeldLocks.willLock()
            Primitives.noteLock()
            #if canImport(Darwin)
            os_unfair_lock_lock(lock)
            #else
            pthread_mutex_lock(lock)
            #endif
            return value
        }
    }

    @inlinable @inline(__always)
    package func unlock() {
        storage.withUnsafeMutablePointerToElements { lock in
            #if canImport(Darwin)
            os_unfair_lock_unlock(lock)
            #else
            pthread_mutex_unlock(lock)
            #endif
            HeldLocks.didUnlock()
        }
    }
}
