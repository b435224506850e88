#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The watches that serve one observation: of its own paths, and of the paths on which properties on these paths depend.
///
/// The watches of a tree share its lock.
final class WatchTree: @unchecked Sendable {
    // Sendable: `mutex` guards `counts`.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    /// The number of watches that begin at each property.
    private var counts: [Source: Int] = [:]

    /// A property of an object on whose behalf watches begin there.
    struct Source: Hashable {
        let object: ObjectIdentifier
        let property: PropertyKey
    }

    init() {
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    func watchBegins(at source: Source) { withLock { counts[source, default: 0] += 1 } }

    func watchEnds(at source: Source) {
        withLock {
            guard let count = counts[source] else { return }
            counts[source] = count > 1 ? count - 1 : nil
        }
    }

    /// Whether any watch begins at a property.
    func hasWatch(at source: Source) -> Bool { withLock { counts[source] != nil } }
}
