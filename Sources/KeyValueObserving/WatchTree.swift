/// The watches that serve one observation: of its own paths, and of the paths on which properties on these paths depend.
///
/// The watches of a tree share its lock.
final class WatchTree: PlatformMutex, @unchecked Sendable {
    // Sendable: the mutex guards `counts`.
    /// The number of watches that begin at each property.
    private var counts: [Source: Int] = [:]

    /// A property of an object on whose behalf watches begin there.
    struct Source: Hashable {
        let object: ObjectIdentifier
        let property: PropertyKey
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
