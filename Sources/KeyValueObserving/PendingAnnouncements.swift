/// The changes that a thread has announced by hand and not made yet.
///
/// Announcements of one property may be nested. Each end matches the last beginning.
package enum PendingAnnouncements {
    struct Entry {
        let object: ObjectIdentifier
        let key: PropertyKey
        let announcement: Announcement
    }

    package static func begin(
        _ key: PropertyKey, of object: AnyObject, in observers: KeyValueRegistrar, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil, mutated: ((Any) -> Any?)? = nil
    ) {
        let announcement = observers.willChange([key], of: object, kind: kind, indexes: indexes, mutated: mutated)
        guard !announcement.isEmpty else { return }
        ObservingThread.current.announced.append(
            Entry(object: ObjectIdentifier(object), key: key, announcement: announcement))
    }

    /// Ends an announcement, and notifies the observers of the change.
    ///
    /// If there is no matching beginning, the observers are notified without a value before the change. This happens if the
    /// property had no observers at the beginning, or if the program made no call before the change.
    package static func end(
        _ key: PropertyKey, of object: AnyObject, in observers: KeyValueRegistrar, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil
    ) {
        let thread = ObservingThread.current
        var announcement: Announcement?
        while announcement == nil,
            let index = thread.announced.lastIndex(where: { $0.object == ObjectIdentifier(object) && $0.key == key })
        {
            let entry = thread.announced.remove(at: index)
            var isOfObject = false
            observers.step { isOfObject = $0.ownNumber() == entry.announcement.owner }
            // Otherwise the entry belongs to a deallocated object that had the same address.
            if isOfObject { announcement = entry.announcement }
        }
        observers.didChange(announcement ?? Announcement(of: [key]), of: object, kind: kind, indexes: indexes)
    }
}
