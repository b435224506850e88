/// Who observes an object, and what is still to be told: a value that decides and calls nobody.
///
/// Changes of one property are told one after the other, by one thread at a time. A thread that makes a change while
/// another one tells of the same property leaves it to that one, in the order in which the changes were noted here. So
/// every observer sees each change once and the last one last, and no thread waits for another one's handlers.
@_spi(Hosting) public struct ObserverState {
    var observations = OneOrMore<Observation>()
    var registrations: UInt64 = 0
    /// The properties that some thread tells of, or is about to change, at this moment.
    private var turns: [Turn] = []

    private struct Turn {
        let key: PropertyKey
        /// Threads between the announcement and the change. The first of them told of it beforehand.
        var announced = 0
        var isTelling = false
        var waiting: [Change] = []
        /// How many changes have been noted.
        var noted = 0

        var isOver: Bool { announced == 0 && !isTelling }
    }

    package init() {}

    // MARK: - Before the change

    /// What has to be done before properties change together: an entry for each observed property that they may change.
    mutating func willChange(_ announcement: inout Announcement) {
        takeIn(&announcement)
        for index in announcement.upcoming.indices {
            let upcoming = announcement.upcoming[index]
            // Whoever has not begun yet is told of it later, directly before the change.
            announcement.upcoming[index].prior = upcoming.prior.filter { $0.held != nil }
            // Of several threads that are about to make the change, one tells.
            guard !isAnnounced(twice: upcoming.key) else { continue }
            announcement.upcoming[index].priorNow = upcoming.prior.filter { $0.held == nil }
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

    private func isAnnounced(twice key: PropertyKey) -> Bool {
        turns.contains { $0.key == key && $0.announced > 1 }
    }

    /// The change that was announced has been made, by this thread or another, or will not be.
    mutating func endAnnouncement(_ key: PropertyKey) {
        guard let turn = turns.firstIndex(where: { $0.key == key }), turns[turn].announced > 0 else { return }
        turns[turn].announced -= 1
        endIfOver(turn)
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
        turns[turn].waiting.append(change)
        turns[turn].noted += 1
        if turns[turn].isTelling { return false }
        turns[turn].isTelling = true
        return true
    }

    /// Notes what an announcement has come to, a change for each entry, and ends it. Answers what the caller has to tell of.
    mutating func note(_ changes: [Change], of announcement: Announcement) -> [PropertyKey] {
        var mustTell: [PropertyKey] = []
        for (upcoming, change) in zip(announcement.upcoming, changes) {
            if notePrior(to: upcoming.prior, change) { mustTell.append(change.key) }
            if note(change, before: announcement.registrations) { mustTell.append(change.key) }
            endAnnouncement(change.key)
        }
        return mustTell
    }

    /// Notes the call before a change for who was not there before: directly before the call after it.
    private mutating func notePrior(to late: [Observation], _ change: Change) -> Bool {
        var mustTell = false
        for observation in late {
            var before = change
            before.isPrior = true
            before.new = nil
            before.only = observation
            if note(before) { mustTell = true }
        }
        return mustTell
    }

    /// Notes a change that is made at this moment, under the same lock. True: the caller has to tell. What else it changes is
    /// left in the announcement.
    package mutating func noteExchange(_ announcement: inout Announcement, _ change: Change) -> Bool {
        if announcement.keys.isEmpty { announcement.keys = [change.key] }
        _ = join(&announcement)
        announcement.told = change.key
        var mustTell = false
        if let index = announcement.upcoming.firstIndex(where: { $0.key == change.key }) {
            let direct = announcement.upcoming.remove(at: index)
            announcement.ended = direct
            mustTell = notePrior(to: direct.prior, change)
            endAnnouncement(change.key)
        }
        return note(change) || mustTell
    }

    package var isEmpty: Bool { observations.isEmpty }

    /// Notes a change that nobody could announce beforehand: the call before it comes directly before the call after it.
    package mutating func noteUnannounced(_ change: Change) -> Bool {
        guard observations.contains(where: { $0.key == change.key && $0.options.contains(.prior) }) else {
            return note(change)
        }
        var before = change
        before.isPrior = true
        before.new = nil
        let mustTell = note(before)
        return note(change) || mustTell
    }

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
        guard !turns[turn].waiting.isEmpty else {
            turns[turn].isTelling = false
            endIfOver(turn)
            return nil
        }
        let change = turns[turn].waiting.removeFirst()
        let concerned = observations.filter {
            if let only = change.only { return only === $0 }
            return $0.key == key && $0.number <= change.observationsBefore
                && (!change.isPrior || $0.options.contains(.prior))
        }
        return (change, free(concerned, from: change))
    }

    /// Those that may be told now; for the others the change is held back.
    private func free(_ concerned: OneOrMore<Observation>, from change: Change) -> OneOrMore<Observation> {
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
    /// Those that are still to be told of it beforehand, and those of them who are told at once.
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
