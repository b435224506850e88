import SchedulerCore
import Testing

/// One row of a transition's table: the result of the transition for a set of words.
struct Row<Output: Equatable> {
    var phases: Set<Lifecycle.Phase>
    var with: Lifecycle.Flags
    var without: Lifecycle.Flags
    var answer: (Lifecycle) -> Output

    /// The row for the words in one of `phases` that have all of `with` and none of `without`.
    init(
        _ phases: Set<Lifecycle.Phase> = Set(Lifecycle.Phase.allCases), with: Lifecycle.Flags = [],
        without: Lifecycle.Flags = [], _ answer: @escaping (Lifecycle) -> Output
    ) {
        self.phases = phases
        self.with = with
        self.without = without
        self.answer = answer
    }

    func covers(_ word: Lifecycle) -> Bool {
        let flags = Parts(word).flags
        return phases.contains(word.phase) && flags.isSuperset(of: with) && flags.isDisjoint(with: without)
    }
}

/// Compares a transition with its table over `words`. Exactly one row has to cover each word.
func check<Output: Equatable>(
    _ transition: (Lifecycle) -> Output, over words: [Lifecycle] = allWords, _ rows: [Row<Output>],
    sourceLocation: SourceLocation = #_sourceLocation
) {
    for word in words {
        let covering = rows.filter { $0.covers(word) }
        guard covering.count == 1 else {
            Issue.record("\(covering.count) rows cover \(Parts(word))", sourceLocation: sourceLocation)
            return
        }
        let (answer, expected) = (transition(word), covering[0].answer(word))
        #expect(answer == expected, "from \(Parts(word))", sourceLocation: sourceLocation)
    }
}

/// The parts of a word. A rule names the parts that change, and all other parts have to stay.
struct Parts: Equatable {
    var phase: Lifecycle.Phase
    var flags: Lifecycle.Flags
    var priority: PriorityLane
    var effectivePriority: PriorityLane
    var serviceIndex: UInt8
    var unfinished: UInt32
    var lentPriority: PriorityLane

    static let allFlags: [Lifecycle.Flags] = [
        .cancelled, .ready, .inInbox, .evaluating, .askAgain, .hasDependents, .hasCompletionBlock, .hasWaiters,
        .observed, .barrier, .finishAnnounced, .ranMain, .queued, .inherits, .cancelPromised, .cancelClaimed, .hasBegun,
        .admitting,
    ]

    init(_ word: Lifecycle) {
        phase = word.phase
        flags = Lifecycle.Flags(Self.allFlags.filter { word.contains($0) })
        priority = word.priority
        effectivePriority = word.effectivePriority
        serviceIndex = word.serviceIndex
        unfinished = word.unfinished
        lentPriority = word.lentPriority
    }

    var word: Lifecycle {
        var word = Lifecycle(rawValue: flags.rawValue)
        word.phase = phase
        word.priority = priority
        word.effectivePriority = effectivePriority
        word.serviceIndex = serviceIndex
        word.unfinished = unfinished
        word.lentPriority = lentPriority
        return word
    }
}

extension Lifecycle {
    /// Returns the word with the named parts changed.
    func but(
        _ phase: Phase? = nil, with set: Flags = [], without cleared: Flags = [], moreUnfinished: Int64 = 0,
        effectivePriority: PriorityLane? = nil, lentPriority: PriorityLane? = nil
    ) -> Lifecycle {
        var parts = Parts(self)
        parts.phase = phase ?? parts.phase
        parts.flags.formUnion(set)
        parts.flags.subtract(cleared)
        parts.unfinished = UInt32(Int64(parts.unfinished) + moreUnfinished)
        parts.effectivePriority = effectivePriority ?? parts.effectivePriority
        parts.lentPriority = lentPriority ?? parts.lentPriority
        return parts.word
    }
}

/// Every phase with every set of the flags that transitions read. Each combination appears with three contents of the other
/// bits: all clear, a mixture, and all set.
let allWords: [Lifecycle] = {
    let steering: [Lifecycle.Flags] = [.cancelled, .ready, .inInbox, .evaluating, .askAgain, .finishAnnounced]
    // Not `admitting`, which is legal only in the phase `starting`.
    let others = Lifecycle.Flags(Parts.allFlags).subtracting(Lifecycle.Flags(steering + [.admitting]))
    var words: [Lifecycle] = []
    for phase in Lifecycle.Phase.allCases {
        for choice in 0..<(1 << steering.count) {
            var parts = Parts(Lifecycle(rawValue: 0))
            parts.phase = phase
            let flags = Lifecycle.Flags(steering.indices.filter { choice >> $0 & 1 == 1 }.map { steering[$0] })
            parts.flags = flags
            words.append(parts.word)

            parts.flags = flags.union([.hasDependents, .hasWaiters, .barrier, .queued, .inherits])
            (parts.priority, parts.effectivePriority) = (.low, .high)
            (parts.serviceIndex, parts.unfinished, parts.lentPriority) = (5, 1, .low)
            words.append(parts.word)

            parts.flags = flags.union(others)
            (parts.priority, parts.effectivePriority) = (.veryHigh, .veryHigh)
            (parts.serviceIndex, parts.unfinished, parts.lentPriority) = (7, 0x01FF_FFFE, .veryHigh)
            words.append(parts.word)
        }
    }
    return words
}()
