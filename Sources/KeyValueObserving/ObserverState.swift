import OperationsPrimitives
import Synchronization

/// The observations of an object, and the changes that are not delivered yet. The state decides but calls no observer.
///
/// One thread at a time delivers the changes of a property, one after the other. If another thread makes a change meanwhile, it
/// leaves the delivery to the first thread, in the order in which the changes were recorded here. Every observer therefore
/// receives each change once and the last change last, and no thread waits for another thread's handlers.
///
/// The state has one owner and is not copied.
@_spi(Hosting) public struct ObserverState {
    var observations = RemovableList<Observation>()
    @usableFromInline var registrations: UInt64 = 0
    private var extras: Extras?

    /// The state that an object with one observer does not need. Created when first changed.
    private final class Extras {
        /// The number that identifies this state; 0 until it is needed.
        @exclusivity(unchecked) var number: UInt64 = 0
        @exclusivity(unchecked) var sweepLimit = ObserverState.firstSweepLimit
        @exclusivity(unchecked) var turns: [Turn] = []
        @exclusivity(unchecked) var registered: [Registrant: RemovableList<Observation>]?
    }

    private static var firstSweepLimit: Int { 64 }

    private var ownExtras: Extras {
        mutating get {
            if let extras { return extras }
            let new = Extras()
            extras = new
            return new
        }
    }

    /// The number of observations from which on a registration looks for deallocated observers.
    var sweepLimit: Int {
        get { extras?.sweepLimit ?? Self.firstSweepLimit }
        set { ownExtras.sweepLimit = newValue }
    }

    /// The observations of each observer by name; nil until one of many is removed, and when only a few are left.
    var registered: [Registrant: RemovableList<Observation>]? {
        get { extras?.registered }
        _modify { yield &ownExtras.registered }
    }

    /// The properties that a thread is about to change, or whose changes a thread is delivering.
    private var turns: [Turn] {
        get { extras?.turns ?? [] }
        _modify { yield &ownExtras.turns }
    }

    private struct Turn {
        let key: PropertyKey
        /// The number of threads between the announcement and the change. The first of them made the calls before the change.
        var announced = 0
        var isNotifying = false
        var waiting = Ring<Change>()
        /// The number of changes that have been recorded.
        var noted = 0
        /// The number of threads that read the property for a change that is not announced.
        var reads = 0

        var isOver: Bool { announced == 0 && !isNotifying && reads == 0 }
    }

    package init() {}

    private static let lastNumber = Atomic<UInt64>(0)

    /// Returns the number that identifies this state, and assigns it at the first call.
    mutating func ownNumber() -> UInt64 {
        let extras = ownExtras
        if extras.number == 0 { extras.number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }
        return extras.number
    }

    // MARK: - Before the change

    /// Prepares an announcement: adds an entry for each observed property that the properties may change.
    mutating func willChange(_ announcement: inout Announcement) {
        announcement.owner = ownNumber()
        takeIn(&announcement)
        for index in announcement.upcoming.indices {
            let upcoming = announcement.upcoming[index]
            let turn = turnIndex(of: upcoming.key)
            // Only the first of several announcing threads calls the observers, and only if no earlier change is being
            // delivered. Otherwise the call before comes directly before the call after; see `notePriors`.
            guard turns[turn].announced == 1, !turns[turn].isNotifying else { continue }
            // An observation that has not begun yet gets its prior call later.
            let priorNow = upcoming.prior.filter { !$0.isHeld }
            guard !priorNow.isEmpty else { continue }
            for observation in priorNow { observation.openPriors += 1 }
            announcement.upcoming[index].priorNow = priorNow
            turns[turn].isNotifying = true
        }
    }

    /// Adds the observations that were registered since the announcement. Called after the change.
    ///
    /// Such an observation may have read a value from before the change. A later observation reads a value from after the
    /// change.
    ///
    /// - Returns: False if there are no new observations.
    mutating func join(_ announcement: inout Announcement) -> Bool {
        guard announcement.registrations != registrations else { return false }
        takeIn(&announcement)
        return true
    }

    private mutating func takeIn(_ announcement: inout Announcement) {
        observations.forEach { observation in
            guard observation.number > announcement.registrations, observation.key != announcement.notified,
                announcement.keys.contains(where: observation.concerns)
            else { return }
            let known = announcement.upcoming.firstIndex { $0.key == observation.key }
            if known == nil {
                announcement.upcoming.append(Upcoming(key: observation.key, reader: observation))
                announcement.upcoming[announcement.upcoming.count - 1].isIndirect =
                    !announcement.keys.contains(observation.key)
                let turn = turnIndex(of: observation.key)
                turns[turn].announced += 1
                announcement.upcoming[announcement.upcoming.count - 1].noted = turns[turn].noted
            }
            announcement.upcoming[known ?? announcement.upcoming.count - 1].add(observation)
        }
        announcement.registrations = registrations
    }

    /// Whether changes were recorded since the last call, so that a value read since then may be from before one of them.
    mutating func isOutdated(_ announcement: inout Announcement) -> Bool {
        var isOutdated = false
        for index in announcement.upcoming.indices {
            let upcoming = announcement.upcoming[index]
            guard let turn = turns.firstIndex(where: { $0.key == upcoming.key }) else { continue }
            if upcoming.wantsNew, turns[turn].noted != upcoming.noted { isOutdated = true }
            announcement.upcoming[index].noted = turns[turn].noted
        }
        return isOutdated
    }

    /// Ends the announcement of a property. The change was made by this thread or another thread, or will not be made.
    mutating func endAnnouncement(_ key: PropertyKey) {
        guard let turn = turns.firstIndex(where: { $0.key == key }), turns[turn].announced > 0 else { return }
        turns[turn].announced -= 1
        endIfOver(turn)
    }

    /// Ends the announcement of a change that will not be made. Observers that were called before the change are called after
    /// it as well, so that the calls come in pairs.
    ///
    /// - Returns: Whether the caller has to deliver changes.
    mutating func didNotChange(_ change: Change) -> Bool {
        endAnnouncement(change.key)
        // Another thread is about to make a change, so the earlier call is the call before that change.
        if turns.contains(where: { $0.key == change.key && $0.announced > 0 }) { return false }
        // One change for all of them: a change for each would be compared with all observations.
        let called = observations.filter { $0.key == change.key && $0.openPriors > 0 }
        guard !called.isEmpty else { return false }
        var change = change
        change.only = Receivers(called)
        return note(change)
    }

    // MARK: - After the change

    /// Records a change.
    ///
    /// - Returns: Whether the caller has to deliver changes, with `nextToNotify` until the result is nil.
    package mutating func note(_ change: Change) -> Bool { note(change, before: registrations) }

    /// - Parameter number: The number of observations that had been registered when the change happened.
    private mutating func note(_ change: Change, before number: UInt64) -> Bool {
        guard observations.contains(where: { $0.key == change.key }) else { return false }
        let turn = turnIndex(of: change.key)
        var change = change
        change.observationsBefore = number
        notePriors(to: change, in: turn)
        turns[turn].waiting.append(change)
        turns[turn].noted += 1
        if turns[turn].isNotifying { return false }
        turns[turn].isNotifying = true
        return true
    }

    /// Begins a read of a property, and returns the number of its changes that have been recorded.
    mutating func beginRead(of key: PropertyKey) -> Int {
        let turn = turnIndex(of: key)
        turns[turn].reads += 1
        return turns[turn].noted
    }

    /// Ends a read of a property, and returns the number of its changes that have been recorded.
    mutating func endRead(of key: PropertyKey) -> Int {
        let turn = turnIndex(of: key)
        let noted = turns[turn].noted
        turns[turn].reads -= 1
        endIfOver(turn)
        return noted
    }

    /// Records a prior call for the observers that have no open prior call.
    ///
    /// Such an observer was not called at the announcement, or its call after a change has been recorded since. Each call after
    /// a change then has a call before it, and the calls of each observer alternate.
    private mutating func notePriors(to change: Change, in turn: Int) {
        var missing = OneOrMore<Observation>()
        func note(_ observation: Observation) {
            if observation.openPriors > 0 { observation.openPriors -= 1 } else { missing.append(observation) }
        }
        if let only = change.only {
            only.observations.forEach { if $0.options.contains(.prior) { note($0) } }
        } else {
            observations.forEach { if $0.options.contains(.prior), concerns($0, change) { note($0) } }
        }
        guard !missing.isEmpty else { return }
        var before = change
        before.isPrior = true
        before.new = nil
        before.only = Receivers(missing)
        turns[turn].waiting.append(before)
    }

    /// Whether an observation is called for a change that concerns all observations of the property.
    private func concerns(_ observation: Observation, _ change: Change) -> Bool {
        observation.key == change.key && observation.number <= change.observationsBefore
    }

    /// Records the changes of an announcement, one for each entry, and ends the announcement. Returns the properties whose
    /// changes the caller has to deliver.
    mutating func note(_ changes: [Change], of announcement: Announcement) -> [PropertyKey] {
        var mustNotify: [PropertyKey] = []
        for change in changes {
            if note(change, before: announcement.registrations) { mustNotify.append(change.key) }
            endAnnouncement(change.key)
        }
        return mustNotify
    }

    /// Records a change that is made at this moment, under the same lock. The announcement keeps the properties that the change
    /// affects.
    ///
    /// - Returns: Whether the caller has to deliver changes.
    package mutating func noteExchange(_ announcement: inout Announcement, _ change: Change) -> Bool {
        if announcement.keys.isEmpty { announcement.keys = [change.key] }
        _ = join(&announcement)
        announcement.notified = change.key
        if let index = announcement.upcoming.firstIndex(where: { $0.key == change.key }) {
            announcement.ended = announcement.upcoming.remove(at: index)
            endAnnouncement(change.key)
        }
        return note(change)
    }

    package var isEmpty: Bool { observations.isEmpty }

    /// Whether there is or was an observation.
    @inlinable @inline(__always) package var wasUsed: Bool { registrations > 0 }

    /// Whether the state has changes that are not delivered. Their values may be objects.
    package var hasChanges: Bool { extras.map { !$0.turns.isEmpty } ?? false }

    /// Whether a change of this property notifies any observer.
    package func isObserved(_ key: PropertyKey) -> Bool { observations.contains { $0.concerns(key) } }

    /// Whether another property that this property may change is observed.
    package func hasDependents(of key: PropertyKey) -> Bool {
        observations.contains { $0.key != key && $0.concerns(key) }
    }

    /// Whether an observer requests values of this property.
    package func needsValues(_ key: PropertyKey) -> Bool {
        observations.contains { $0.key == key && $0.needsValue }
    }

    /// The observation to notify of the last change of the property with this tag.
    ///
    /// nil also if there are several observations, or if the notification takes more than a call. The caller releases the
    /// observation.
    func soleObservation(ofTag tag: UInt16) -> Unmanaged<Observation>? {
        guard let sole = observations.sole, !hasChanges, sole.isPlain(ofTag: tag) else { return nil }
        return .passRetained(sole)
    }

    /// Removes and returns the whole state, so that the caller can end the observations without the lock.
    package mutating func take() -> ObserverState {
        var taken = ObserverState()
        swap(&self, &taken)
        return taken
    }

    /// Ends all observations after the object's deallocation. Called without a lock, by the only owner of the state. The owner
    /// releases the state next.
    package mutating func objectIsGone() {
        // Taken, so that no reference is counted.
        if let sole = observations.takeSole() { return sole.objectIsGone() }
        observations.forEach { $0.objectIsGone() }
    }

    /// Returns the next change of the property and the observations to notify; nil ends the caller's delivery.
    mutating func nextToNotify(_ key: PropertyKey) -> (change: Change, observers: OneOrMore<Observation>)? {
        guard let turn = turns.firstIndex(where: { $0.key == key }) else { return nil }
        guard let change = turns[turn].waiting.popFirst() else {
            turns[turn].isNotifying = false
            endIfOver(turn)
            return nil
        }
        // An observation of the list may have ended since. It is not called then.
        let concerned = change.only?.observations ?? observations.filter { concerns($0, change) }
        // Late values are made before the change is held back.
        return (change, change.late == nil ? free(concerned, from: change) : concerned)
    }

    /// Returns the observations that can be notified now. For the other observations, the change is held back.
    func free(_ concerned: OneOrMore<Observation>, from change: Change) -> OneOrMore<Observation> {
        guard concerned.contains(where: \.isHeld) else { return concerned }
        concerned.forEach { $0.hold(change) }
        return concerned.filter { !$0.isHeld }
    }

    /// The way to deliver a change that was not announced.
    enum Way {
        case nobody
        /// The short way: the caller notifies these observations, and then delivers the changes from `nextToNotify`.
        case notify(OneOrMore<Observation>)
        /// The long way: the change affects other properties, or another thread is delivering changes of this property.
        case announce
    }

    /// Chooses the way to deliver a change that was not announced.
    ///
    /// - Parameter isLast: Whether no other change of this property follows, so that the delivery needs no order.
    mutating func way(_ key: PropertyKey, isLast: Bool) -> Way {
        let concerned = observations.filter { $0.concerns(key) }
        if concerned.isEmpty { return .nobody }
        let isSimple = !concerned.contains { $0.key != key || $0.isHeld || $0.options.contains(.prior) }
        if !isSimple || turns.contains(where: { $0.key == key }) { return .announce }
        if !isLast { turns.append(Turn(key: key, isNotifying: true)) }
        return .notify(concerned)
    }

    private mutating func endIfOver(_ turn: Int) {
        guard turns[turn].isOver else { return }
        turns.remove(at: turn)
    }

    private mutating func turnIndex(of key: PropertyKey) -> Int {
        if let known = turns.firstIndex(where: { $0.key == key }) { return known }
        turns.append(Turn(key: key))
        return turns.count - 1
    }
}

/// The work before and after a change of one observed property.
struct Upcoming {
    let key: PropertyKey
    /// The observation that reads the property, if any observation needs the value. Some observations cannot read it.
    private(set) var reader: Observation
    /// The first reader, if another one has replaced it. Kept, because the replacement is made under the lock, and must not
    /// release the last reference there.
    private var formerReader: Observation?
    var wantsOld = false
    var wantsNew = false
    /// The observations that requested a prior call, and those of them that are called at once.
    var prior: [Observation] = []
    var priorNow: [Observation] = []
    var old: Any?
    /// The number of recorded changes of the property at the last check.
    var noted = 0
    /// Whether the property may change because another property changes.
    var isIndirect = false

    init(key: PropertyKey, reader: Observation) {
        self.key = key
        self.reader = reader
    }

    mutating func add(_ observation: Observation) {
        if observation.needsValue, !reader.needsValue {
            formerReader = reader
            reader = observation
        }
        wantsOld = wantsOld || observation.options.contains(.old)
        wantsNew = wantsNew || observation.needsNew
        if observation.options.contains(.prior) { prior.append(observation) }
    }
}

/// The state of a change between its announcement and its end.
package struct Announcement {
    /// The number of the observers' state. An address could belong to another object by the time of the change.
    var owner: UInt64 = 0
    /// The properties that change. The array is empty if the object was not observed at the announcement.
    var keys: [PropertyKey] = []
    var upcoming: [Upcoming] = []
    /// The number of observations that had been registered at the last check.
    var registrations: UInt64 = 0
    /// The property whose observers are notified separately.
    var notified: PropertyKey?
    /// An entry to release without the lock, because it may hold the last reference to an ended observation.
    var ended: Upcoming?

    /// Creates an announcement of no property.
    package init() {}

    /// Creates an announcement of properties, before the observations are checked.
    package init(of keys: [PropertyKey]) { self.keys = keys }

    /// Whether there is no observation to notify.
    package var isEmpty: Bool { upcoming.isEmpty }
}
