import Synchronization

/// The observers of one object. A class that conforms to `KeyValueObservable` has one as a stored property.
///
/// No lock is held while an observer is called or a property is read. All members can be used from any thread.
open class KeyValueRegistrar: @unchecked Sendable {
    // Sendable: the state is used only under its lock.
    private let own: Own?
    /// Whether the Observation framework has tracked a read of any property. See `Tracking`.
    let isTracked = Atomic(false)

    /// Creates an empty set of observers for a new object.
    public init() { own = Own() }

    /// Creates observers for a subclass that keeps the state under its own lock and overrides `step`.
    @_spi(Hosting) public init(keptElsewhere: Void) { own = nil }

    deinit { own?.state.objectIsGone() }

    /// Whether all observations are released when the object is deallocated, even if these observers live longer.
    @_spi(Hosting) open var letsGoAtEnd: Bool { false }

    /// Called before an observation is registered, without a lock.
    @_spi(Hosting) open func observingBegins(of object: AnyObject, by observation: Observation) {}

    /// Called before user code changes a property that it announces by hand, without a lock.
    ///
    /// - Parameters:
    ///   - name: The property's name; nil for a key path that the class has not registered.
    ///   - keyPath: The unregistered key path.
    @_spi(Hosting) open func willAnnounce(_ name: String?, _ keyPath: AnyKeyPath?, of object: AnyObject) {}

    /// Called after user code has changed a property that it announces by hand, and observers were notified. Called without a
    /// lock.
    @_spi(Hosting) open func didAnnounce(_ name: String?, _ keyPath: AnyKeyPath?, of object: AnyObject) {}

    /// Whether the object has no observations at this moment.
    public final var isEmpty: Bool {
        var isEmpty = true
        step { isEmpty = $0.observations.isEmpty }
        return isEmpty
    }

    /// The number of observations, including observations whose observers are deallocated.
    package final var observationCount: Int {
        var count = 0
        step { count = $0.observations.count }
        return count
    }

    /// Performs one step of the state, under its lock.
    @_spi(Hosting) open func step(_ body: (inout ObserverState) -> Void) {
        let own = own.unsafelyUnwrapped
        own.withLock { body(&own.state) }
    }

    private final class Own: PlatformMutex {
        var state = ObserverState()
    }
}

// MARK: - Registering

extension KeyValueRegistrar {
    /// Registers an observation, and makes its first call if the options request one.
    package final func add(_ observation: Observation, of object: AnyObject) {
        observation.settle(in: self)
        observingBegins(of: object, by: observation)
        var mustSweep = false
        step { mustSweep = $0.add(observation) }
        if mustSweep { sweep() }
        guard observation.beginsHeld else { return }
        observation.hasBegun(on: object)
        if observation.options.contains(.initial) {
            var change = Change(observation.key)
            if observation.options.contains(.new) { change.new = observation.read(object) }
            if observation.isValid { observation.notify(object, change) }
        }
        // Changes during the first call, by other threads or by the observer itself, are delivered after it.
        while true {
            var held: Change?
            step { _ in held = observation.nextHeld() }
            guard let held else { return }
            observation.pass(held, of: object)
        }
    }
}

extension KeyValueRegistrar {
    /// Removes observations whose observers are deallocated. No change of their properties may ever reveal them.
    @inline(never)
    private final func sweep() {
        var toSweep: RemovableList<Observation>?
        step { toSweep = $0.observationsToSweep() }
        guard let observations = toSweep else { return }
        let abandoned = observations.filter(\.isAbandoned)
        var ids: Set<ObjectIdentifier> = []
        abandoned.forEach { ids.insert($0.id) }
        step { $0.remove(ids) }
        abandoned.forEach { $0.wasRemoved() }
    }
}

// MARK: - Announcing

extension KeyValueRegistrar {
    /// Notifies the observers that requested a call before the change, and records the values before the change.
    ///
    /// Call `didChange` afterwards or, if nothing has changed, `didNotChange`.
    ///
    /// - Parameter mutated: Returns the set after a mutation of a set.
    package final func willChange(
        _ keys: [PropertyKey], of object: AnyObject, kind: NSKeyValueChange = .setting, indexes: RangeSet<Int>? = nil,
        mutated: ((Any) -> Any?)? = nil, knownOld: Any? = nil
    ) -> Announcement {
        var announcement = Announcement(of: keys)
        step { $0.willChange(&announcement) }
        for index in announcement.upcoming.indices {
            let upcoming = announcement.upcoming[index]
            let isOfSet = kind != .setting && indexes == nil
            // An insertion into an array needs no old value, and an array that is held here would be copied by the insertion.
            let needsOld = isOfSet || kind != .insertion || upcoming.isIndirect
            if upcoming.wantsOld && needsOld || isOfSet && upcoming.wantsNew {
                announcement.upcoming[index].old =
                    upcoming.isIndirect ? upcoming.reader.read(object) : knownOld ?? upcoming.reader.read(object)
            }
            guard !upcoming.priorNow.isEmpty else { continue }
            announcement.upcoming[index].priorNow = []
            var change = Change(upcoming.key, old: announcement.upcoming[index].old)
            change.isIndirect = upcoming.isIndirect
            if !upcoming.isIndirect {
                change.new = change.old.flatMap { mutated?($0) }
                change.reduce(to: kind, ChangedIndexes(indexes))
                change.new = nil
            }
            change.isPrior = true
            for observation in upcoming.priorNow { observation.pass(change, of: object) }
            // Deliver the changes of other threads, which have waited for these calls.
            notify(upcoming.key, of: object)
        }
        return announcement
    }

    /// Notifies observers of a completed change, with the values as they are read now.
    ///
    /// Observers that were registered after the announcement are notified too, because the change may have happened after their
    /// registration.
    ///
    /// - Parameter isFlip: Whether the property is a Boolean state, so that the old value is the opposite of the new value.
    package final func didChange(
        _ announcement: Announcement, of object: AnyObject, kind: NSKeyValueChange = .setting,
        indexes: RangeSet<Int>? = nil, isFlip: Bool = false
    ) {
        var announcement = announcement
        var mustNotify: [PropertyKey]?
        var mayJoin = true
        while true {
            let changes = announcement.upcoming.map { upcoming in
                var change = Change(upcoming.key, old: upcoming.old)
                change.isIndirect = upcoming.isIndirect
                let lacksOld = isFlip && !upcoming.isIndirect && upcoming.wantsOld && upcoming.old == nil
                // The elements that were removed from a set are those that the new set lacks.
                let comparesSets = kind != .setting && indexes == nil && upcoming.wantsOld
                if upcoming.wantsNew || lacksOld || comparesSets { change.new = upcoming.reader.read(object) }
                if lacksOld { change.old = (change.new as? Bool).map { !$0 } }
                if !upcoming.isIndirect { change.reduce(to: kind, ChangedIndexes(indexes)) }
                return change
            }
            step { state in
                // One check is enough: an observer that is registered later reads a value from after the change.
                let haveJoined = mayJoin && state.join(&announcement)
                mayJoin = false
                // Without this check, a value read before another thread's change could be delivered after it, as the last
                // value.
                if state.isOutdated(&announcement) || haveJoined { return }
                mustNotify = state.note(changes, of: announcement)
            }
            guard let mustNotify else { continue }
            for key in mustNotify { notify(key, of: object) }
            return
        }
    }

    /// Notifies the observer of the last change of a property, without a value. False: the caller has to call `flipped`, because
    /// there is not only one observer, or the notification takes more than a call.
    package final func notifySoleObserver(ofTag tag: UInt16, of object: AnyObject) -> Bool {
        // Unmanaged, because a reference would be counted three times.
        var sole: Unmanaged<Observation>?
        step { sole = $0.soleObservation(ofTag: tag) }
        guard let sole else { return false }
        sole._withUnsafeGuaranteedRef { if $0.isValid { $0.notifyPlainly(object) } }
        sole.release()
        return true
    }

    /// Notifies observers that a state has flipped. No observer has requested a call before the change.
    ///
    /// - Parameter isLast: Whether the state never changes again, so that there is no order to keep.
    package final func flipped(_ key: PropertyKey, isLast: Bool, of object: AnyObject) {
        var way = ObserverState.Way.nobody
        step { way = $0.way(key, isLast: isLast) }
        switch consume way {
        case .nobody: return
        case .announce: didChange(Announcement(of: [key]), of: object, isFlip: true)
        case .notify(let observers):
            let change: Change
            if let reader = observers.firstIndex(where: \.needsValue) {
                let new = observers[reader].read(object)
                // The old value is for observers that were registered after the check for observers of old values.
                change = Change(key, old: (new as? Bool).map { !$0 }, new: new)
            } else {
                change = Change(key)
            }
            observers.forEach { $0.pass(change, of: object) }
            if !isLast { notify(key, of: object) }
        }
    }

    /// Notifies observers of a completed change of a property whose values are known.
    package final func changed(_ key: PropertyKey, old: Any, new: Any, of object: AnyObject) {
        var announcement = Announcement(of: [key])
        step { _ = $0.join(&announcement) }
        var mustNotify: [PropertyKey]?
        while mustNotify == nil {
            let changes = announcement.upcoming.map { upcoming in
                // A property that depends on this one already has its new value.
                var change = Change(upcoming.key, old: upcoming.isIndirect ? nil : old)
                change.new = upcoming.isIndirect ? upcoming.reader.read(object) : new
                change.isIndirect = upcoming.isIndirect
                return change
            }
            // See `didChange`: a property that depends on this one may have changed since it was read.
            step { if !$0.isOutdated(&announcement) { mustNotify = $0.note(changes, of: announcement) } }
        }
        for key in mustNotify ?? [] { notify(key, of: object) }
    }

    /// Delivers a change that `ObserverState.noteExchange` has recorded, and the changes that it causes indirectly.
    package final func didExchange(
        _ announcement: Announcement, _ key: PropertyKey, mustNotify: Bool, of object: AnyObject
    ) {
        if mustNotify { notify(key, of: object) }
        if !announcement.isEmpty { didChange(announcement, of: object) }
    }

    /// Notifies observers of the indirect changes of a property. `ObserverState.note` has recorded the direct change.
    package final func notifyDependents(of key: PropertyKey, of object: AnyObject) {
        var announcement = Announcement(of: [key])
        announcement.notified = key
        var hasDependents = false
        step { hasDependents = $0.hasDependents(of: key) }
        if hasDependents { didChange(announcement, of: object) }
    }

    /// Notifies one observer of an indirect change that was not announced.
    final func notifyIndirectly(_ observation: Observation, of object: AnyObject) {
        var change = Change(observation.key)
        change.isIndirect = true
        change.only = Receivers(.one(observation))
        var mustNotify: Bool?
        while mustNotify == nil {
            var noted = 0
            step { noted = $0.beginRead(of: change.key) }
            // Not read for the Observation framework. It would track the property anew.
            if observation.needsNew { change.new = observation.read(object) }
            // See `didChange`: another thread may have changed the property since it was read.
            step { if $0.endRead(of: change.key) == noted { mustNotify = $0.note(change) } }
        }
        if mustNotify ?? false { notify(change.key, of: object) }
    }

    /// Withdraws an announcement: another thread made the change first, or nothing has changed.
    package final func didNotChange(_ announcement: Announcement, of object: AnyObject) {
        guard !announcement.isEmpty else { return }
        var mustNotify: [PropertyKey] = []
        let changes = announcement.upcoming.map { upcoming in
            // Observers that were called before the change are called after it, with the present value.
            let mayNotify = !upcoming.prior.isEmpty
            var change = Change(upcoming.key, old: upcoming.old)
            change.isIndirect = upcoming.isIndirect
            if mayNotify, upcoming.wantsNew { change.new = upcoming.reader.read(object) }
            return change
        }
        step { state in
            for change in changes where state.didNotChange(change) { mustNotify.append(change.key) }
        }
        for key in mustNotify { notify(key, of: object) }
    }

    /// Delivers the recorded changes of one property, as its only notifying thread.
    package final func notify(_ key: PropertyKey, of object: AnyObject) {
        while true {
            var next: (change: Change, observers: OneOrMore<Observation>)?
            step { next = $0.nextToNotify(key) }
            guard var next else { return }
            if next.change.late != nil {
                ObserverState.complete(&next.change, for: next.observers)
                step { next.observers = $0.free(next.observers, from: next.change) }
            }
            next.observers.forEach { $0.pass(next.change, of: object) }
        }
    }
}
