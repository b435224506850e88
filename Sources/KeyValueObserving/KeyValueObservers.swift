#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The observers of one object. A class that adopts `KeyValueObservable` has one as a stored property.
///
/// No lock is held while an observer is called or a property read. Safe to use from any thread.
public class KeyValueObservers: @unchecked Sendable {
    // Sendable: the contents are reached under their lock only.
    private let own: Own?

    /// The observers of a new object: none.
    public init() { own = Own() }

    /// For subclasses that keep the state under a lock of their own, and override `step`.
    package init(keptElsewhere: Void) { own = nil }

    deinit {
        guard let own else { return }
        for observation in own.state.observations { observation.objectIsGone() }
    }

    /// Nobody observes at this moment.
    public final var isEmpty: Bool {
        var isEmpty = true
        step { isEmpty = $0.observations.isEmpty }
        return isEmpty
    }

    /// Makes one step of the state, under its lock.
    package func step(_ body: (inout ObserverState) -> Void) { own.unsafelyUnwrapped.withLock(body) }

    private final class Own {
        private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
        var state = ObserverState()

        init() {
            mutex.initialize(to: pthread_mutex_t())
            pthread_mutex_init(mutex, nil)
        }

        deinit {
            pthread_mutex_destroy(mutex)
            mutex.deallocate()
        }

        func withLock(_ body: (inout ObserverState) -> Void) {
            pthread_mutex_lock(mutex)
            body(&state)
            pthread_mutex_unlock(mutex)
        }
    }
}

// MARK: - Registering

extension KeyValueObservers {
    /// Registers an observation and makes its first call, if it asks for one.
    package final func add(_ observation: Observation, of object: AnyObject) {
        observation.observers = self
        observation.willStart(on: object)
        step { $0.add(observation) }
        guard observation.options.contains(.initial) else { return }
        var change = Change(observation.key)
        if observation.options.contains(.new) { change.new = observation.read(object) }
        if observation.isValid { observation.tell(object, change) }
        // Changes meanwhile, by other threads or in the call itself, come after it.
        while true {
            var held: Change?
            step { held = $0.nextHeld(observation) }
            guard let held else { return }
            if observation.isValid && observation.isChange(held) { observation.tell(object, held) }
        }
    }
}

// MARK: - Announcing

/// What was found out before a change, for after it.
package struct Announcement {
    var upcoming: [Upcoming] = []

    package var isEmpty: Bool { upcoming.isEmpty }
}

extension KeyValueObservers {
    /// Tells those who want to know beforehand, and takes down the values before the change.
    ///
    /// Followed by `didChange` or, when there was no change after all, `didNotChange`.
    package final func willChange(
        _ keys: [PropertyKey], of object: AnyObject, kind: NSKeyValueChange = .setting, indexes: RangeSet<Int>? = nil
    ) -> Announcement {
        var announcement = Announcement()
        step { announcement.upcoming = $0.willChange(keys) }
        for index in announcement.upcoming.indices {
            let upcoming = announcement.upcoming[index]
            if upcoming.wantsOld { announcement.upcoming[index].old = upcoming.reader.read(object) }
            guard !upcoming.prior.isEmpty else { continue }
            var change = Change(upcoming.key, old: announcement.upcoming[index].old)
            change.kind = kind
            change.indexes = indexes
            change.isPrior = true
            change.isIndirect = upcoming.isIndirect
            for observation in upcoming.prior where observation.isValid && observation.isChange(change) {
                observation.tell(object, change)
            }
        }
        return announcement
    }

    /// Tells of a change that has been made, with the values as they are read now.
    package final func didChange(
        _ announcement: Announcement, of object: AnyObject, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil
    ) {
        var changes: [Change] = []
        for upcoming in announcement.upcoming {
            var change = Change(upcoming.key, old: upcoming.old)
            change.kind = kind
            change.indexes = indexes
            change.isIndirect = upcoming.isIndirect
            if upcoming.wantsNew { change.new = upcoming.reader.read(object) }
            changes.append(change)
        }
        var toTell: [PropertyKey] = []
        step { state in
            for change in changes where state.note(change) { toTell.append(change.key) }
            for change in changes { state.endAnnouncement(change.key) }
        }
        for key in toTell { tell(key, of: object) }
    }

    /// Tells one observer of a change that nobody has announced.
    final func tell(_ change: Change, to observation: Observation, of object: AnyObject) {
        var changes = [change]
        changes[0].only = observation
        if observation.options.contains(.prior) {
            changes.insert(changes[0], at: 0)
            changes[0].isPrior = true
            changes[0].new = nil
        }
        var mustTell = false
        step { state in
            for change in changes where state.note(change) { mustTell = true }
        }
        if mustTell { tell(change.key, of: object) }
    }

    /// Takes an announcement back: somebody else was first, or nothing has changed.
    package final func didNotChange(_ announcement: Announcement) {
        guard !announcement.isEmpty else { return }
        step { state in
            for upcoming in announcement.upcoming { state.endAnnouncement(upcoming.key) }
        }
    }

    /// Tells of the changes of one property that have been noted, as the one thread that does.
    package final func tell(_ key: PropertyKey, of object: AnyObject) {
        while true {
            var next: (change: Change, observers: [Observation])?
            step { next = $0.nextToTell(key) }
            guard let next else { return }
            for observation in next.observers where observation.isValid && observation.isChange(next.change) {
                observation.tell(object, next.change)
            }
        }
    }
}
