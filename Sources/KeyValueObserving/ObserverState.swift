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

        var isOver: Bool { announced == 0 && !isTelling }
    }

    package init() {}

    // MARK: - Before the change

    /// What has to be done before properties change together: an entry for each observed property that they may change.
    mutating func willChange(_ keys: [PropertyKey]) -> [Upcoming] {
        var upcoming: [Upcoming] = []
        observations.forEach { observation in
            guard keys.contains(where: observation.concerns) else { return }
            let index = upcoming.firstIndex { $0.key == observation.key } ?? upcoming.count
            if index == upcoming.count {
                upcoming.append(Upcoming(key: observation.key, reader: observation))
                upcoming[index].isIndirect = !keys.contains(observation.key)
            }
            upcoming[index].add(observation)
        }
        for index in upcoming.indices {
            let turn = turnIndex(of: upcoming[index].key)
            // Of several threads that are about to make the change, one tells.
            if turns[turn].announced > 0 { upcoming[index].prior = [] }
            turns[turn].announced += 1
        }
        return upcoming
    }

    /// The change that was announced has been made, by this thread or another, or will not be.
    mutating func endAnnouncement(_ key: PropertyKey) {
        guard let turn = turns.firstIndex(where: { $0.key == key }), turns[turn].announced > 0 else { return }
        turns[turn].announced -= 1
        endIfOver(turn)
    }

    // MARK: - After the change

    /// Notes a change. True: the caller has to tell, by `nextToTell` until that answers nil.
    package mutating func note(_ change: Change) -> Bool {
        guard observations.contains(where: { $0.key == change.key }) else { return false }
        let turn = turnIndex(of: change.key)
        var change = change
        change.observationsBefore = registrations
        turns[turn].waiting.append(change)
        if turns[turn].isTelling { return false }
        turns[turn].isTelling = true
        return true
    }

    /// Notes a change that is made at this moment, under the same lock. True: the caller has to tell.
    package mutating func noteExchange(_ announcement: Announcement, _ change: Change) -> Bool {
        if announcement.upcoming.contains(where: { $0.key == change.key }) { endAnnouncement(change.key) }
        return note(change)
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

    /// Somebody wants to know the values of this property.
    package func needsValues(_ key: PropertyKey) -> Bool {
        observations.contains { $0.key == key && ($0.needsNew || $0.options.contains(.old)) }
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
        let isSimple = !concerned.contains { $0.key != key || $0.held != nil }
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
    /// Reads the property.
    let reader: Observation
    var wantsOld = false
    var wantsNew = false
    /// Those that are told before the change.
    var prior: [Observation] = []
    var old: Any?

    var isIndirect = false

    init(key: PropertyKey, reader: Observation) {
        self.key = key
        self.reader = reader
    }

    mutating func add(_ observation: Observation) {
        wantsOld = wantsOld || observation.options.contains(.old)
        wantsNew = wantsNew || observation.needsNew
        if observation.options.contains(.prior) { prior.append(observation) }
    }
}
