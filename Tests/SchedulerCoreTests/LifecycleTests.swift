import SchedulerCore
import TestSupport
import Testing

@Suite struct LifecycleTests {
    typealias Word = Lifecycle
    typealias Phase = Lifecycle.Phase

    static let waiting: Set<Phase> = [.idle, .entering, .enqueued]
    static let over: Set<Phase> = [.ended, .finishing, .finished]

    private func allBut(_ phases: Set<Phase>) -> Set<Phase> { Set(Phase.allCases).subtracting(phases) }

    private func allBut(_ phase: Phase) -> Set<Phase> { allBut([phase]) }

    // MARK: Add

    @Test func `only an idle operation enters a queue, and old announcements are cleared`() {
        check(
            { $0.entering() },
            [
                Row<Word?>([.idle]) { $0.but(.entering, without: [.askAgain, .finishAnnounced]) },
                Row<Word?>(allBut(.idle)) { _ in nil },
            ])
    }

    @Test func `the word of a new block in a queue is that of an operation that has entered the queue`() throws {
        let entering = try #require(Word().entering())
        #expect(entering.enqueued(isReady: true, priority: .normal) == .enqueued(.newInQueue))
    }

    @Test func `an operation that is refused is idle again`() {
        let entering = allWords.filter { $0.phase == .entering }
        check(
            { $0.refused() }, over: entering, [Row { $0.but(.idle, without: [.askAgain, .finishAnnounced]) }])
        for word in allWords where word.phase == .idle {
            let fresh = word.but(without: [.askAgain, .finishAnnounced])
            #expect(word.entering()?.refused() == fresh)
        }
    }

    @Test(arguments: [true, false], PriorityLane.allCases)
    func `an operation is enqueued with the value of isReady, unless isReady has to be evaluated again`(
        isReady: Bool, lane: PriorityLane
    ) {
        let entering = allWords.filter { $0.phase == .entering }
        check(
            { $0.enqueued(isReady: isReady, priority: lane) }, over: entering,
            [
                Row(with: .askAgain) { .askAgain($0.but(without: .askAgain)) },
                Row(without: .askAgain) { word in
                    let mayStart = isReady && !word.contains(.finishAnnounced)
                    let answer: Lifecycle.Flags = mayStart ? .ready : []
                    let raised = word.contains(.inherits) ? max(lane, word.lentPriority) : lane
                    let enqueued = word.but(.enqueued, with: [.inInbox, .queued], effectivePriority: raised)
                    return .enqueued(enqueued.but(with: answer))
                },
            ])
    }

    @Test func `an operation that is drained loses the pin of the inbox only`() {
        check({ $0.drained() }, [Row { $0.but(without: .inInbox) }])
    }

    // MARK: Ready

    @Test func `one thread evaluates readiness, and only of an operation that waits in a queue`() {
        check(
            { $0.reconsidered() },
            [
                Row([.entering]) { .delegated($0.but(with: .askAgain)) },
                Row([.enqueued], with: .evaluating) { .delegated($0.but(with: .askAgain)) },
                Row([.enqueued], without: .evaluating) { .ask($0.but(with: .evaluating, without: .askAgain)) },
                Row(allBut([.entering, .enqueued])) { _ in .needless },
            ])
    }

    static let asked = allWords.filter { $0.phase == .enqueued && $0.contains(.evaluating) }

    @Test func `a ready operation is pushed, unless it is in the inbox or about to be finished`() {
        check(
            { $0.answered(isReady: true) }, over: Self.asked,
            [
                Row(with: .askAgain) { .askAgain($0.but(without: .askAgain)) },
                Row(with: .finishAnnounced, without: .askAgain) { unready($0) },
                Row(with: .inInbox, without: [.askAgain, .finishAnnounced]) {
                    .settled($0.but(with: .ready, without: .evaluating), finishNow: false)
                },
                Row(without: [.inInbox, .askAgain, .finishAnnounced]) {
                    .push($0.but(with: [.ready, .inInbox], without: .evaluating))
                },
            ])
    }

    @Test func `an unready operation is not pushed`() {
        check(
            { $0.answered(isReady: false) }, over: Self.asked,
            [
                Row(with: .askAgain) { .askAgain($0.but(without: .askAgain)) },
                Row(without: .askAgain) { unready($0) },
            ])
    }

    /// The answer of an operation that is not ready, or whose end was announced.
    private func unready(_ word: Lifecycle) -> Lifecycle.Answer {
        let next = word.but(without: [.ready, .evaluating, .finishAnnounced])
        return .settled(next, finishNow: word.contains(.finishAnnounced))
    }

    @Test func `a new priority pins an operation that waits outside the inbox, and makes an adder evaluate again`() {
        func answer(_ word: Lifecycle, _ made: (Lifecycle) -> Lifecycle.Change) -> Lifecycle.Change {
            let lane = word.contains(.inherits) ? max(.high, word.lentPriority) : .high
            return word.effectivePriority == lane ? .needless : made(word.but(effectivePriority: lane))
        }
        check(
            { $0.reordered(.high) },
            [
                Row([.entering]) { .noted($0.but(with: .askAgain)) },
                Row([.enqueued], with: .inInbox) { answer($0) { .noted($0) } },
                Row([.enqueued], without: .inInbox) { answer($0) { .push($0.but(with: .inInbox)) } },
                Row([.starting, .executing]) { answer($0) { .noted($0) } },
                Row(Self.over.union([.idle])) { _ in .needless },
            ])
    }

    @Test func `a lent priority is stored before the end, and raises a waiting operation in a queue that inherits`() {
        func noted(_ word: Lifecycle) -> Lifecycle.Change {
            word.lentPriority == .veryHigh ? .needless : .noted(word.but(lentPriority: .veryHigh))
        }
        func raised(_ word: Lifecycle, _ flags: Lifecycle.Flags = []) -> Lifecycle {
            word.but(with: flags, effectivePriority: .veryHigh, lentPriority: .veryHigh)
        }
        check(
            { $0.lent(.veryHigh) },
            [
                Row(Self.over) { _ in .needless },
                Row([.idle, .entering]) { noted($0) },
                Row([.enqueued, .starting, .executing], without: .inherits) { noted($0) },
                Row([.starting, .executing], with: .inherits) {
                    $0.lentPriority == .veryHigh ? .needless : .noted(raised($0))
                },
                Row([.enqueued], with: [.inherits, .inInbox]) {
                    $0.lentPriority == .veryHigh ? .needless : .noted(raised($0))
                },
                Row([.enqueued], with: .inherits, without: .inInbox) {
                    $0.lentPriority == .veryHigh ? .needless : .push(raised($0, .inInbox))
                },
            ])
    }

    @Test func `a task that awaits an operation raises the operation in any queue`() {
        var word = Lifecycle()
        word.phase = .enqueued
        let raised = word.but(
            with: [.inherits, .inInbox], effectivePriority: .high, lentPriority: .high)
        #expect(word.lent(.high, inAnyQueue: true) == .push(raised))
        #expect(word.lent(.high) == .noted(word.but(lentPriority: .high)))
        #expect(raised.lent(.high, inAnyQueue: true) == .needless)
        #expect(raised.lent(.normal) == .needless)
    }

    @Test func `an operation lends its effective priority, before adding only its lent one, after its end none`() {
        var word = Lifecycle().but(effectivePriority: .high, lentPriority: .low)
        for phase in Lifecycle.Phase.allCases {
            word.phase = phase
            let isWaiting = [.enqueued, .starting, .executing].contains(phase)
            let expected: PriorityLane = isWaiting ? .high : Self.over.contains(phase) ? .veryLow : .low
            #expect(word.lends == expected)
        }
    }

    @Test func `one more dependency holds back an unstarted operation, and makes it unready unless it is cancelled`() {
        check(
            { $0.heldByOneMore() },
            [
                Row<Word?>(Self.waiting, with: .cancelled) { $0.but(moreUnfinished: 1) },
                Row<Word?>(Self.waiting, without: .cancelled) { $0.but(without: .ready, moreUnfinished: 1) },
                Row<Word?>(allBut(Self.waiting)) { _ in nil },
            ])
    }

    @Test func `one dependency less is counted in every phase and changes nothing else`() {
        let held = allWords.filter { $0.unfinished > 0 }
        check({ $0.heldByOneLess() }, over: held, [Row { $0.but(moreUnfinished: -1) }])
    }

    @Test func `a dependent evaluates its readiness after its last dependency, or after each one if it asks always`() {
        let last = allWords.filter { $0.unfinished == 1 }
        let rows: [Row<Lifecycle.Question>] = [
            Row([.entering]) { .delegated($0.but(with: .askAgain, moreUnfinished: -1)) },
            Row([.enqueued], with: .evaluating) { .delegated($0.but(with: .askAgain, moreUnfinished: -1)) },
            Row([.enqueued], without: .evaluating) {
                .ask($0.but(with: .evaluating, without: .askAgain, moreUnfinished: -1))
            },
            Row(allBut([.entering, .enqueued])) { .delegated($0.but(moreUnfinished: -1)) },
        ]
        check({ $0.released(asksAlways: false) }, over: last, rows)
        let earlier = last.map { $0.but(moreUnfinished: 1) }
        check({ $0.released(asksAlways: false) }, over: earlier, [Row { .delegated($0.but(moreUnfinished: -1)) }])
        check({ $0.released(asksAlways: true) }, over: earlier, rows)
    }

    @Test func `only an idle operation with few dependencies counts one more without a lock`() {
        for word in allWords {
            let isEarly = word.phase == .idle && word.unfinished < 16
            #expect(word.heldByOneMoreOfFew() == (isEarly ? word.heldByOneMore() : nil))
        }
    }

    @Test func `the last dependency of a plain operation pushes the operation, unless another thread has it`() {
        let held = allWords.filter { $0.unfinished == 1 && !$0.contains(.observed) }
        check(
            { $0.heldByOneLessPlainly() }, over: held,
            [
                Row([.entering]) { .noted($0.but(with: .askAgain, moreUnfinished: -1)) },
                Row([.enqueued], with: .evaluating) { .noted($0.but(with: .askAgain, moreUnfinished: -1)) },
                Row([.enqueued], with: .finishAnnounced, without: .evaluating) { _ in .needless },
                Row([.enqueued], with: .inInbox, without: [.evaluating, .finishAnnounced]) {
                    .noted($0.but(with: .ready, without: .askAgain, moreUnfinished: -1))
                },
                Row([.enqueued], without: [.inInbox, .evaluating, .finishAnnounced]) {
                    .push($0.but(with: [.ready, .inInbox], without: .askAgain, moreUnfinished: -1))
                },
                Row(allBut([.entering, .enqueued])) { .noted($0.but(moreUnfinished: -1)) },
            ])
    }

    @Test func `an earlier dependency of a plain operation is only counted`() {
        for word in allWords where word.unfinished == 1 && !word.contains(.observed) {
            let held = word.but(moreUnfinished: 1)
            #expect(held.heldByOneLessPlainly() == .noted(word))
        }
    }

    @Test func `the count of an observed or gated operation is not changed plainly`() {
        for word in allWords where word.unfinished > 0 {
            #expect(word.but(with: .observed).heldByOneLessPlainly() == .needless)
            var gated = word
            gated.insert(.gated)
            #expect(gated.heldByOneLessPlainly() == .needless)
        }
    }

    @Test(.tags(.release)) func `the process stops if more dependencies finish than were counted`() async {
        await #expect(processExitsWith: .failure) { print(Lifecycle().heldByOneLess()) }
    }

    // MARK: Start

    @Test func `a worker claims only an operation that waits, is ready and is not pinned`() {
        let claimed: (Word) -> Word? = { $0.but(.starting, with: .admitting) }
        check(
            { $0.claimed() },
            [
                Row([.enqueued], with: .ready, without: [.inInbox, .evaluating, .cancelPromised], claimed),
                Row(
                    [.enqueued], with: [.ready, .cancelPromised, .cancelled], without: [.inInbox, .evaluating], claimed),
                Row<Word?>([.enqueued], with: [.ready, .cancelPromised], without: [.inInbox, .evaluating, .cancelled]) {
                    _ in nil
                },
                Row<Word?>([.enqueued], without: [.ready, .inInbox, .evaluating]) { _ in nil },
                Row<Word?>([.enqueued], with: .inInbox) { _ in nil },
                Row<Word?>([.enqueued], with: .evaluating, without: .inInbox) { _ in nil },
                Row<Word?>(allBut(.enqueued)) { _ in nil },
            ])
        var job = Lifecycle().but(.enqueued, with: .ready)
        job.insert(.unlisted)
        #expect(job.claimed()?.contains(.admitting) == false)
    }

    /// The words of an operation that a worker has claimed and not started.
    static let claimed = allWords.filter { $0.phase == .starting }.map { $0.but(with: .admitting) }

    @Test func `a claimed operation starts unless a change came after the claim`() {
        let words = Self.claimed
        let (held, free) = (words.filter { !$0.contains(.ready) }, words.filter { $0.contains(.ready) })
        let always: [Row<Lifecycle.Admission>] = [
            Row(with: .finishAnnounced) { .finish($0.but(without: [.admitting, .finishAnnounced, .askAgain])) },
            Row(with: .cancelled, without: .finishAnnounced) { .start($0.but(without: [.admitting, .askAgain])) },
        ]
        check({ $0.admitted() }, over: held, always + [Row(without: [.cancelled, .finishAnnounced]) { _ in .putBack }])
        check(
            { $0.admitted() }, over: free,
            always + [
                Row(with: .cancelPromised, without: [.cancelled, .finishAnnounced]) { _ in .putBack },
                Row(with: .askAgain, without: [.cancelPromised, .cancelled, .finishAnnounced]) {
                    .askAgain($0.but(without: .askAgain))
                },
                Row(without: [.askAgain, .cancelPromised, .cancelled, .finishAnnounced]) {
                    .start($0.but(without: .admitting))
                },
            ])
        check(
            { $0.declined() }, over: words,
            [Row { $0.but(.enqueued, without: [.admitting, .ready, .askAgain, .finishAnnounced]) }])
    }

    @Test func `only the claiming thread holds back, evaluates and ends a claimed operation before its start`() {
        let words = Self.claimed
        #expect(words.allSatisfy { !$0.hasStarted })
        check({ $0.reconsidered() }, over: words, [Row { .delegated($0.but(with: .askAgain)) }])
        check({ $0.finishing() }, over: words, [Row { .delegated($0.but(with: .finishAnnounced)) }])
        check({ $0.started(isCancelled: false) }, over: words, [Row { _ in .inQueue }])
        check(
            { $0.heldByOneMore() }, over: words,
            [
                Row<Word?>(with: .cancelled) { $0.but(moreUnfinished: 1) },
                Row<Word?>(without: .cancelled) { $0.but(without: .ready, moreUnfinished: 1) },
            ])
    }

    @Test func `an operation that releases its slot waits, and its work has begun`() {
        var gated = Lifecycle()
        gated.insert(.gated)
        for word in allWords {
            var expected: Word?
            if word.phase == .executing {
                expected = word.but(.enqueued, with: .hasBegun, without: [.ready, .askAgain])
                expected?.insert(.gated)
            }
            #expect(word.stoodAside() == expected)
        }
    }

    @Test(arguments: [true, false])
    func `an operation starts by hand or by its queue's claim, and a cancelled one skips its work`(isCancelled: Bool) {
        check(
            { $0.started(isCancelled: isCancelled) },
            [
                Row([.idle, .starting]) { isCancelled ? .skip($0.but(.ended)) : .run($0.but(.executing)) },
                Row([.entering, .enqueued]) { _ in .inQueue },
                Row([.executing]) { _ in .alreadyExecuting },
                Row(Self.over) { _ in .alreadyFinished },
            ])
    }

    /// All words, and all again with each bit that a plain operation must not have.
    static let wordsForPlain =
        allWords + allWords.map { $0.but(with: .observed) } + allWords.map { $0.but(with: .hasCompletionBlock) }

    @Test func `a plain operation starts in one step if it is unchanged since its claim and has no observers`() {
        let words = Self.wordsForPlain.map { $0.phase == .starting ? $0.but(with: .admitting) : $0 }
        for word in words + words.map({ $0.but(moreUnfinished: -Int64($0.unfinished)) }) {
            let changes: Lifecycle.Flags = [.cancelled, .observed, .askAgain, .finishAnnounced, .cancelPromised]
            let isSame = word.unfinished == 0 && !word.containsAny(changes)
            #expect(
                word.admittedAndStarted()
                    == (word.phase == .starting && isSame ? word.but(.executing, without: .admitting) : nil))
        }
    }

    // MARK: Cancel with others

    @Test func `a queue promises to cancel only an operation that has not ended and is not cancelled`() {
        check(
            { $0.cancelPromised() },
            [
                Row<Word?>(allBut(Self.over), without: .cancelled) {
                    $0.but(with: .cancelPromised)
                },
                Row<Word?>(allBut(Self.over), with: .cancelled) { _ in nil },
                Row<Word?>(Self.over) { _ in nil },
            ])
    }

    @Test func `one thread calls cancel as promised, and then the promise is kept`() {
        check(
            { $0.cancelClaimed() },
            [
                Row<Word?>(with: .cancelPromised, without: .cancelClaimed) { $0.but(with: .cancelClaimed) },
                Row<Word?>(with: [.cancelPromised, .cancelClaimed]) { _ in nil },
                Row<Word?>(without: .cancelPromised) { _ in nil },
            ])
        check(
            { $0.cancelCalled() },
            [
                Row([.enqueued], without: .cancelled) { $0.but(without: [.cancelPromised, .cancelClaimed, .ready]) },
                Row([.enqueued], with: .cancelled) { $0.but(without: [.cancelPromised, .cancelClaimed]) },
                Row(allBut(.enqueued)) { $0.but(without: [.cancelPromised, .cancelClaimed]) },
            ])
    }

    @Test func `an operation with a promised cancellation is pushed even if unready, until the call is claimed`() {
        let word = Lifecycle().but(.enqueued, with: [.evaluating, .cancelPromised])
        let pushed = word.but(with: [.ready, .inInbox], without: .evaluating)
        #expect(word.answered(isReady: false) == .push(pushed))
        for flag: Lifecycle.Flags in [.cancelClaimed, .cancelled] {
            let other = word.but(with: flag)
            #expect(other.answered(isReady: false) == .settled(other.but(without: .evaluating), finishNow: false))
        }
    }

    @Test func `a pin of a ready operation is short unless code of the user may run`() {
        let pinned = Lifecycle().but(.enqueued, with: [.ready, .evaluating])
        #expect(pinned.isPinnedBriefly(isPlain: true))
        // Code of the user may run.
        #expect(!pinned.isPinnedBriefly(isPlain: false))
        #expect(!pinned.but(with: .observed).isPinnedBriefly(isPlain: true))
        #expect(pinned.but(with: [.inInbox, .observed]).isPinnedBriefly(isPlain: false))
        for flag: Lifecycle.Flags in [.gated, .keyed, .unlisted, .cancelPromised] {
            #expect(!pinned.but(with: flag).isPinnedBriefly(isPlain: true))
        }
        #expect(!pinned.but(without: .ready).isPinnedBriefly(isPlain: true))
        #expect(!pinned.but(without: .evaluating).isPinnedBriefly(isPlain: true))
        #expect(!pinned.but(.starting).isPinnedBriefly(isPlain: true))
    }

    @Test func `a waiting operation is pinned for one push, unless it is about to be pushed`() {
        check(
            { $0.repinned() },
            [
                Row<Word?>([.enqueued], without: .inInbox) { $0.but(with: .inInbox) },
                Row<Word?>([.enqueued], with: .inInbox) { _ in nil },
                Row<Word?>(allBut(.enqueued)) { _ in nil },
            ])
    }

    // MARK: Finish

    @Test func `an operation that no override can keep executing claims its end in the same step`() {
        check(
            { $0.ended(claimsEnd: true) }, over: Self.wordsForPlain,
            [
                Row<Word?>([.executing]) { $0.but(.finishing, with: .ranMain) },
                Row<Word?>(allBut(.executing)) { _ in nil },
            ])
    }

    @Test func `main ends an operation that still executes`() {
        check(
            { $0.ended() },
            [
                Row<Word?>([.executing]) { $0.but(.ended, with: .ranMain) },
                Row<Word?>(allBut(.executing)) { _ in nil },
            ])
    }

    @Test func `one thread finishes an operation, or leaves the finish to the thread that adds or evaluates it`() {
        check(
            { $0.finishing() },
            [
                Row([.entering]) { .delegated($0.but(with: .finishAnnounced)) },
                Row([.enqueued], with: .evaluating) { .delegated($0.but(with: .finishAnnounced)) },
                Row([.enqueued], without: .evaluating) { .claimed($0.but(.finishing), tooEarly: true) },
                Row([.idle, .starting, .executing, .ended]) { .claimed($0.but(.finishing), tooEarly: false) },
                Row([.finishing, .finished]) { _ in .already },
            ])
    }

    @Test func `an operation that has left its queue is finished and changes no more`() {
        let finishing = allWords.filter { $0.phase == .finishing }
        check({ $0.finished() }, over: finishing, [Row { $0.but(.finished) }])
    }

    // MARK: Cancel

    @Test func `an operation is cancelled once, and not after its end`() {
        check(
            { $0.cancelled() },
            [
                Row<Word?>(allBut(Self.over), without: .cancelled) { $0.but(with: .cancelled) },
                Row<Word?>(allBut(Self.over), with: .cancelled) { _ in nil },
                Row<Word?>(Self.over) { _ in nil },
            ])
    }
}
