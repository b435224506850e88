import Synchronization

/// Who observes an object, and what is still to be told: a value that decides and calls nobody.
///
/// Changes of one property are told one after the other, by one thread at a time. A thread that makes a change while
/// another one tells of the same property leaves it to that one, in the order in which the changes were noted here. So
/// every observer sees each change once and the last one last, and no thread waits for another one's handlers.
@_spi(Hosting) public struct ObserverState {
    var observations = OneOrMore<Observation>()
    var registrations: UInt64 = 0
    /// Tells it from all others. 0: it has none yet.
    private var number: UInt64 = 0
    /// How many observations there may be before those are looked for whose observers are gone.
    var sweepLimit = 64
    /// The properties that some thread tells of, or is about to change, at this moment.
    private var turns: [Turn] = []

    private struct Turn {
        let key: PropertyKey
        /// Threads between the announcement and the change. The first of them told of it beforehand.
        var announced = 0
        var isTelling = false
        var waiting = FirstInFirstOut<Change>()
        /// How many changes have been noted.
        var noted = 0

        var isOver: Bool { announced == 0 && !isTelling }
    }

    package init() {}

    private static let lastNumber = Atomic<UInt64>(0)

    /// The number that tells it from all others.
    mutating func ownNumber() -> UInt64 {
        if number == 0 { number = Self.lastNumber.wrappingAdd(1, ordering: .relaxed).newValue }
        return number
    }

    // MARK: - Before the change

    /// What has to be done before properties change together: an entry for each observed property that they may change.
    mutating func willChange(_ announcement: inout Announcement) {
        announcement.owner = ownNumber()
        takeIn(&announcement)
        for index in announcement.upcoming.indices {
            let upcoming = announcement.upcoming[index]
            let turn = turnIndex(of: upcoming.key)
            // Of several threads that are about to make the change, one calls. While calls about an earlier change are
            // made, none does. In both cases the call before comes directly before the call after; see `notePriors`.
            guard turns[turn].announced == 1, !turns[turn].isTelling else { continue }
            // An observer that has not begun yet is called later, too.
            let priorNow = upcoming.prior.filter { $0.held == nil }
            guard !priorNow.isEmpty else { continue }
            for observation in priorNow { observation.openPriors += 1 }
            announcement.upcoming[index].priorNow = priorNow
            turns[turn].isTelling = true
        }
    }

    /// Called after the change: takes in those who have begun to observe since it was announced. What they have read so far
    /// may be from before the change. Who comes later reads what is after it. False: nobody has come.
    mutating func join(_ announcement: inout Announcement) -> Bool {
        guard announcement.registrations != registrations else { return false }
        takeIn(&announcement)
        return true
    }

    private mutating func takeIn(_ announcement: inout Announcement) {
        observations.forEach { observation in
            guard observation.number > announcement.registrations, observation.key != announcement.told,
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

    /// Changes have been noted since the last look, so that a value read since may be from before one of them.
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

    /// The change that was announced has been made, by this thread or another, or will not be.
    mutating func endAnnouncement(_ key: PropertyKey) {
        guard let turn = turns.firstIndex(where: { $0.key == key }), turns[turn].announced > 0 else { return }
        turns[turn].announced -= 1
        endIfOver(turn)
    }

    /// An announced change will not be made. Observers that were called before it are called after it all the same, so that
    /// the calls come in pairs. Answers whether the caller has to tell.
    mutating func didNotChange(_ change: Change) -> Bool {
        endAnnouncement(change.key)
        // Another thread is about to make a change; the call was the one before that.
        if turns.contains(where: { $0.key == change.key && $0.announced > 0 }) { return false }
        var mustTell = false
        observations.forEach { observation in
            guard observation.key == change.key, observation.openPriors > 0 else { return }
            var only = change
            only.only = observation
            if note(only) { mustTell = true }
        }
        return mustTell
    }

    // MARK: - After the change

    /// Notes a change. True: the caller has to tell, by `nextToTell` until that answers nil.
    package mutating func note(_ change: Change) -> Bool { note(change, before: registrations) }

    /// - Parameter number: How many observations had been made when it happened.
    private mutating func note(_ change: Change, before number: UInt64) -> Bool {
        guard observations.contains(where: { $0.key == change.key }) else { return false }
        let turn = turnIndex(of: change.key)
        var change = change
        change.observationsBefore = number
        notePriors(to: change, in: turn)
        turns[turn].waiting.append(change)
        turns[turn].noted += 1
        if turns[turn].isTelling { return false }
        turns[turn].isTelling = true
        return true
    }

    /// Notes the call before a change for observers that were not called when it was announced, or have had that call's
    /// counterpart since. So each call after a change has one before it, and each observer is called alternately.
    private mutating func notePriors(to change: Change, in turn: Int) {
        observations.forEach { observation in
            guard observation.options.contains(.prior), concerns(observation, change) else { return }
            if observation.openPriors > 0 {
                observation.openPriors -= 1
                return
            }
            var before = change
            before.isPrior = true
            before.new = nil
            before.only = observation
            turns[turn].waiting.append(before)
        }
    }

    /// Whether an observation is called for a change.
    private func concerns(_ observation: Observation, _ change: Change) -> Bool {
        if let only = change.only { return only === observation }
        return observation.key == change.key && observation.number <= change.observationsBefore
            && (!change.isPrior || observation.options.contains(.prior))
    }

    /// Notes what an announcement has come to, a change for each entry, and ends it. Answers what the caller has to tell of.
    mutating func note(_ changes: [Change], of announcement: Announcement) -> [PropertyKey] {
        var mustTell: [PropertyKey] = []
        for change in changes {
            if note(change, before: announcement.registrations) { mustTell.append(change.key) }
            endAnnouncement(change.key)
        }
        return mustTell
    }

    /// Notes a change that is made at this moment, under the same lock. True: the caller has to tell. What else it changes is
    /// left in the announcement.
    package mutating func noteExchange(_ announcement: inout Announcement, _ change: Change) -> Bool {
        if announcement.keys.isEmpty { announcement.keys = [change.key] }
        _ = join(&announcement)
        announcement.told = change.key
        if let index = announcement.upcoming.firstIndex(where: { $0.key == change.key }) {
            announcement.ended = announcement.upcoming.remove(at: index)
            endAnnouncement(change.key)
        }
        return note(change)
    }

    package var isEmpty: Bool { observations.isEmpty }

    /// Somebody is told when this property changes.
    package func isObserved(_ key: PropertyKey) -> Bool { observations.contains { $0.concerns(key) } }

    /// Somebody observes another property, which this one may change.
    package func hasDependents(of key: PropertyKey) -> Bool {
        observations.contains { $0.key != key && $0.concerns(key) }
    }

    /// Somebody wants to know the values of this property.
    package func needsValues(_ key: PropertyKey) -> Bool {
        observations.contains { $0.key == key && $0.needsValue }
    }

    /// Leaves nobody behind, for whoever guards the state to do the rest without the lock.
    package mutating func take() -> ObserverState {
        var taken = ObserverState()
        swap(&self, &taken)
        return taken
    }

    /// The object is gone, and so are its observers' hopes. Called without a lock, by the only one who has this state.
    package mutating func objectIsGone() {
        let hopeful = observations
        observations = .none
        hopeful.forEach { $0.objectIsGone() }
    }

    /// The next change of the property to tell of, and whom; nil ends the caller's turn.
    mutating func nextToTell(_ key: PropertyKey) -> (change: Change, observers: OneOrMore<Observation>)? {
        guard let turn = turns.firstIndex(where: { $0.key == key }) else { return nil }
        guard let change = turns[turn].waiting.popFirst() else {
            turns[turn].isTelling = false
            endIfOver(turn)
            return nil
        }
        let concerned = observations.filter { concerns($0, change) }
        // A change is held back together with its values.
        return (change, change.late == nil ? free(concerned, from: change) : concerned)
    }

    /// The observers that may be told now. For the others the change is held back.
    func free(_ concerned: OneOrMore<Observation>, from change: Change) -> OneOrMore<Observation> {
        guard concerned.contains(where: { $0.held != nil }) else { return concerned }
        concerned.forEach { $0.held?.append(change) }
        return concerned.filter { $0.held == nil }
    }

    /// How to tell of a change that was not announced.
    enum Way {
        case nobody
        /// The short way: these are told now, and then what `nextToTell` says.
        case tell(OneOrMore<Observation>)
        /// The long way: it changes other properties, or another thread tells of this one at the moment.
        case announce
    }

    /// - Parameter isLast: There will be no other change of this property, so nobody's turn is taken.
    mutating func way(_ key: PropertyKey, isLast: Bool) -> Way {
        let concerned = observations.filter { $0.concerns(key) }
        if concerned.isEmpty { return .nobody }
        let isSimple = !concerned.contains { $0.key != key || $0.held != nil || $0.options.contains(.prior) }
        if !isSimple || turns.contains(where: { $0.key == key }) { return .announce }
        if !isLast { turns.append(Turn(key: key, isTelling: true)) }
        return .tell(concerned)
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

/// What has to be done before a change of one observed property, and after it.
struct Upcoming {
    let key: PropertyKey
    /// Reads the property, if anybody wants its value. Not everybody who observes can.
    var reader: Observation
    var wantsOld = false
    var wantsNew = false
    /// Observers that want to be called beforehand, and those of them that are called at once.
    var prior: [Observation] = []
    var priorNow: [Observation] = []
    var old: Any?
    /// How many changes of it had been noted at the last look.
    var noted = 0
    /// Another property changes, which may change this one.
    var isIndirect = false

    init(key: PropertyKey, reader: Observation) {
        self.key = key
        self.reader = reader
    }

    mutating func add(_ observation: Observation) {
        if observation.needsValue { reader = observation }
        wantsOld = wantsOld || observation.options.contains(.old)
        wantsNew = wantsNew || observation.needsNew
        if observation.options.contains(.prior) { prior.append(observation) }
    }
}

/// What was found out before a change, for after it.
package struct Announcement {
    /// Of whose properties. An address may be another object's by the time the change is made.
    var owner: UInt64 = 0
    /// What changes. Empty, if nothing was found out because nobody observed.
    var keys: [PropertyKey] = []
    var upcoming: [Upcoming] = []
    /// How many observations had been made at the last look.
    var registrations: UInt64 = 0
    /// The property whose observers are told apart from the others.
    var told: PropertyKey?
    /// Kept to be released without the lock: it may have the last reference to somebody who observes no more.
    var ended: Upcoming?

    /// Of nothing.
    package init() {}

    /// Of properties, before anybody was asked.
    package init(of keys: [PropertyKey]) { self.keys = keys }

    /// There is nobody to be told.
    package var isEmpty: Bool { upcoming.isEmpty }
}
