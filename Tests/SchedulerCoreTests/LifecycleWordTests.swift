import SchedulerCore
import TestSupport
import Testing

@Suite struct LifecycleWordTests {
    typealias Phase = Lifecycle.Phase

    @Test func `a new operation is idle, of normal priority, and nothing has happened to it`() {
        let word = Lifecycle()
        #expect(word.phase == .idle)
        #expect(Parts(word).flags == [])
        #expect(word.priority == .normal)
        #expect(word.effectivePriority == .normal)
        #expect(word.serviceIndex == 0)
        #expect(word.unfinished == 0)
        #expect(word.lentPriority == .veryLow)
    }

    @Test func `each flag is one bit of its own`() {
        #expect(Parts.allFlags.allSatisfy { $0.rawValue.nonzeroBitCount == 1 })
        #expect(Set(Parts.allFlags.map(\.rawValue)).count == Parts.allFlags.count)
    }

    @Test func `setting one part of the word leaves all others as they are`() {
        // Each fifth word has all phases, and all contents of the other bits.
        for index in stride(from: 0, to: allWords.count, by: Stress.factor < 1 ? 5 : 1) {
            let word = allWords[index]
            for phase in Phase.allCases { checkSetting(\.phase, \.phase, to: phase, in: word) }
            for lane in PriorityLane.allCases {
                checkSetting(\.priority, \.priority, to: lane, in: word)
                checkSetting(\.effectivePriority, \.effectivePriority, to: lane, in: word)
                checkSetting(\.lentPriority, \.lentPriority, to: lane, in: word)
            }
            for index: UInt8 in 0...7 { checkSetting(\.serviceIndex, \.serviceIndex, to: index, in: word) }
            for count in [0, 1, UInt32(0x01FF_FFFF)] { checkSetting(\.unfinished, \.unfinished, to: count, in: word) }
            for flag in Parts.allFlags {
                var (more, less, parts) = (word, word, Parts(word))
                more.insert(flag)
                less.remove(flag)
                let (had, lacked) = (parts.flags.union(flag), parts.flags.subtracting(flag))
                parts.flags = had
                if Parts(more) != parts { Issue.record("inserting into \(Parts(word)) gives \(Parts(more))") }
                parts.flags = lacked
                if Parts(less) != parts { Issue.record("removing from \(Parts(word)) gives \(Parts(less))") }
            }
        }
    }

    private func checkSetting<Part>(
        _ part: WritableKeyPath<Lifecycle, Part>, _ samePart: WritableKeyPath<Parts, Part>, to value: Part,
        in word: Lifecycle
    ) {
        var (changed, expected) = (word, Parts(word))
        changed[keyPath: part] = value
        expected[keyPath: samePart] = value
        if Parts(changed) != expected { Issue.record("setting \(value) in \(Parts(word)) gives \(Parts(changed))") }
    }

    @Test func `a quality of service beyond three bits spills into nothing`() {
        var word = Lifecycle()
        word.serviceIndex = 0xFF
        #expect(word.serviceIndex == 7)
        word.serviceIndex = 0
        #expect(word == Lifecycle())
    }

    @Test func `the states that observers see follow from the phase`() {
        let seen: [Phase: (isInQueue: Bool, hasStarted: Bool, isExecuting: Bool, isFinished: Bool)] = [
            .idle: (false, false, false, false), .entering: (true, false, false, false),
            .enqueued: (true, false, false, false), .starting: (false, true, false, false),
            .executing: (false, true, true, false), .ended: (false, true, false, true),
            .finishing: (false, true, false, true), .finished: (false, true, false, true),
        ]
        for word in allWords {
            let expected = seen[word.phase]!
            #expect((word.isInQueue, word.hasStarted, word.isExecuting, word.isFinished) == expected)
        }
    }

    @Test func `cancelled and pinned follow from the flags alone`() {
        for word in allWords {
            let flags = Parts(word).flags
            #expect(word.isCancelled == flags.contains(.cancelled))
            #expect(word.isPinned == !flags.isDisjoint(with: [.inInbox, .evaluating]))
        }
    }
}
