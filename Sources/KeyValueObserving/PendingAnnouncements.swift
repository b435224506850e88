#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The changes that this thread has announced by hand and not yet made. Only its own thread touches it.
///
/// Announcements of one property may be nested: each end belongs to the last beginning.
package final class PendingAnnouncements {
    private var entries: [Entry] = []

    private struct Entry {
        let object: ObjectIdentifier
        let key: PropertyKey
        let announcement: Announcement
    }

    private static let threadKey: pthread_key_t = {
        var key = pthread_key_t()
        #if canImport(Darwin)
            pthread_key_create(&key) { Unmanaged<PendingAnnouncements>.fromOpaque($0).release() }
        #else
            pthread_key_create(&key) { $0.map { Unmanaged<PendingAnnouncements>.fromOpaque($0).release() } }
        #endif
        return key
    }()

    private static var current: PendingAnnouncements {
        if let known = pthread_getspecific(threadKey) {
            return Unmanaged<PendingAnnouncements>.fromOpaque(known).takeUnretainedValue()
        }
        let new = PendingAnnouncements()
        pthread_setspecific(threadKey, Unmanaged.passRetained(new).toOpaque())
        return new
    }

    package static func begin(
        _ key: PropertyKey, of object: AnyObject, in observers: KeyValueObservers, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil
    ) {
        let announcement = observers.willChange([key], of: object, kind: kind, indexes: indexes)
        guard !announcement.isEmpty else { return }
        current.entries.append(Entry(object: ObjectIdentifier(object), key: key, announcement: announcement))
    }

    /// Without a beginning, because nobody observed then, or because it was forgotten, whoever observes now is told of a
    /// change without a value before it.
    package static func end(
        _ key: PropertyKey, of object: AnyObject, in observers: KeyValueObservers, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil
    ) {
        let pending = current
        let index = pending.entries.lastIndex { $0.object == ObjectIdentifier(object) && $0.key == key }
        let announcement = index.map { pending.entries.remove(at: $0).announcement }
        observers.didChange(
            announcement ?? observers.unannounced(key), of: object, kind: kind, indexes: indexes)
    }
}
