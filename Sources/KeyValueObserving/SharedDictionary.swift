#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A dictionary that many threads read, and that changes rarely.
final class SharedDictionary<Key: Hashable, Value>: @unchecked Sendable {
    // Sendable: the dictionary is used only under the lock. Keys and values are constants.
    private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
    private var values: [Key: Value] = [:]
    private let limit: Int

    /// Creates an empty dictionary that removes all its values when it has more than `limit` of them.
    init(limit: Int) {
        self.limit = limit
        lock.initialize(to: pthread_rwlock_t())
        pthread_rwlock_init(lock, nil)
    }

    deinit {
        pthread_rwlock_destroy(lock)
        lock.deallocate()
    }

    func value(for key: Key) -> Value? {
        pthread_rwlock_rdlock(lock)
        defer { pthread_rwlock_unlock(lock) }
        return values[key]
    }

    /// Inserts a value and returns it, or returns the value that another thread has inserted.
    func insert(_ value: Value, for key: Key) -> Value {
        // Released without the lock, because a key may hold objects of the user.
        var removed: [Key: Value] = [:]
        pthread_rwlock_wrlock(lock)
        defer {
            pthread_rwlock_unlock(lock)
            withExtendedLifetime(removed) {}
        }
        if let known = values[key] { return known }
        if values.count >= limit { swap(&removed, &values) }
        values[key] = value
        return value
    }
}
