/// The changes that a thread has announced by hand and not yet made.
///
/// Announcements of one property may be nested: each end belongs to the last beginning.
package enum PendingAnnouncements {
    struct Entry {
        let object: ObjectIdentifier
        let key: PropertyKey
        let announcement: Announcement
    }

    package static func begin(
        _ key: PropertyKey, of object: AnyObject, in observers: KeyValueObservers, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil
    ) {
        let announcement = observers.willChange([key], of: object, kind: kind, indexes: indexes)
        guard !announcement.isEmpty else { return }
        ObservingThread.current.announced.append(
            Entry(object: ObjectIdentifier(object), key: key, announcement: announcement))
    }

    /// Without a beginning, because nobody observed then, or because it was forgotten, whoever observes now is told of a
    /// change without a value before it.
    package static func end(
        _ key: PropertyKey, of object: AnyObject, in observers: KeyValueObservers, kind: NSKeyValueChange = .setting,
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
            // If not, it was of an object that is gone, at the same address.
            if isOfObject { announcement = entry.announcement }
        }
        observers.didChange(announcement ?? Announcement(of: [key]), of: object, kind: kind, indexes: indexes)
    }
}
