import SchedulerCore
import TestSupport
import Testing

@Suite struct LifecycleWalkTests {
    @Test(.tags(.slow)) func `very many legal transitions keep every invariant and walk every arrow`() throws {
        var walk = LifecycleWalk(seed: 20_260_101)
        while walk.transitions < Stress.rounds(1_000_000, least: 60_000) {
            if let broken = walk.step() {
                Issue.record("\(broken), at transition \(walk.transitions), in \(Parts(walk.word))")
                return
            }
        }
        #expect(walk.arrows == LifecycleWalk.documentedArrows)
        #expect(walk.outcomes == Set(LifecycleWalk.Outcome.allCases))
    }
}

/// Operations, one after the other, with random transitions that are legal for the callers of `Lifecycle`.
struct LifecycleWalk {
    enum Step: CaseIterable {
        case enter, refuse, enqueue, drain, reconsider, answer, reorder, lend, hold, release, claim, start, end, finish,
            leave
        case cancel, startAtOnce, endAndClaim, admit, decline
    }

    enum Outcome: CaseIterable {
        case entryAskedAgain, questionDelegated, answerAskedAgain, answerSettled, answerPushed, finishedLate
        case startSkipped, startInQueue, startTwice, startTooLate, finishDelegated, finishedTooEarly, finishedAlready
    }

    struct Arrow: Hashable {
        var from: Lifecycle.Phase
        var to: Lifecycle.Phase
    }

    static let documentedArrows: Set<Arrow> = {
        let targets: [Lifecycle.Phase: [Lifecycle.Phase]] = [
            .idle: [.entering, .executing, .ended, .finishing],
            .entering: [.idle, .enqueued],
            .enqueued: [.starting, .finishing],
            .starting: [.enqueued, .executing, .ended, .finishing],
            .executing: [.ended, .finishing],
            .ended: [.finishing],
            .finishing: [.finished],
        ]
        return Set(targets.flatMap { from, targets in targets.map { Arrow(from: from, to: $0) } })
    }()

    private(set) var word = Lifecycle()
    private(set) var transitions = 0
    private(set) var arrows: Set<Arrow> = []
    private(set) var outcomes: Set<Outcome> = []
    private var generator: SeededRandom
    /// The word at the start of this life, for comparison at its end.
    private var birth = Lifecycle()
    private var runs = 0
    private var finishes = 0
    /// Whether the end was announced and delegated: another thread has to finish the operation.
    private var isFinishOwed = false

    init(seed: UInt64) {
        generator = SeededRandom(seed: seed)
        beBorn()
    }

    private mutating func beBorn() {
        var word = Lifecycle()
        word.priority = generator.pick(PriorityLane.allCases)
        word.serviceIndex = UInt8(generator.below(8))
        for flag: Lifecycle.Flags in [.barrier, .observed, .hasDependents] where generator.chance(50) {
            word.insert(flag)
        }
        (self.word, birth, runs, finishes, isFinishOwed) = (word, word, 0, 0, false)
    }

    /// Takes one step if the step is legal. Returns the invariant that the step broke, if any.
    mutating func step() -> String? {
        if word.phase == .finished, generator.chance(30) { beBorn() }
        let step = Step.allCases[generator.below(Step.allCases.count)]
        // Early ends are rare, so that the long paths occur too.
        if step == .finish || step == .start, word.phase.rawValue < Lifecycle.Phase.starting.rawValue,
            generator.chance(80)
        {
            return nil
        }
        let old = word
        guard let next = take(step) else { return old.phase == word.phase ? nil : "a refusal changed the phase" }
        transitions += 1
        word = next
        if old.phase != next.phase { arrows.insert(Arrow(from: old.phase, to: next.phase)) }
        return brokenRule(step, from: old, to: next)
    }

    /// Returns the next word; nil if the step is not legal now, for the word or for its caller.
    private mutating func take(_ step: Step) -> Lifecycle? {
        switch step {
        case .enter: return word.entering()
        case .refuse:
            guard word.phase == .entering, generator.chance(20) else { return nil }
            isFinishOwed = false
            return word.refused()
        case .enqueue: return word.phase == .entering ? enqueue() : nil
        case .drain: return word.contains(.inInbox) ? word.drained() : nil
        case .reconsider: return reconsider()
        case .answer: return word.contains(.evaluating) ? answer() : nil
        case .reorder: return word.reordered(generator.pick(PriorityLane.allCases)).next
        case .lend: return word.lent(generator.pick(PriorityLane.allCases), inAnyQueue: generator.chance(20)).next
        case .hold: return word.unfinished < 4 ? word.heldByOneMore() : nil
        case .release: return word.unfinished > 0 ? word.heldByOneLess() : nil
        case .claim: return word.claimed()
        case .start: return start()
        case .end: return word.ended()
        case .finish: return finish()
        case .leave: return word.phase == .finishing && !word.contains(.inInbox) ? word.finished() : nil
        case .cancel: return generator.chance(20) ? word.cancelled() : nil
        case .admit: return admit()
        case .decline:
            guard word.phase == .starting, word.contains(.admitting), generator.chance(20) else { return nil }
            settle(word.contains(.finishAnnounced))
            return word.declined()
        case .startAtOnce:
            guard let next = word.admittedAndStarted() else { return nil }
            runs += 1
            return next
        case .endAndClaim:
            guard let next = word.ended(claimsEnd: true) else { return nil }
            finishes += 1
            return next
        }
    }

    private mutating func enqueue() -> Lifecycle {
        let lane = generator.pick(PriorityLane.allCases)
        switch word.enqueued(isReady: generator.chance(50), priority: lane) {
        case .askAgain(let next):
            outcomes.insert(.entryAskedAgain)
            return next
        case .enqueued(let next): return next
        }
    }

    private mutating func reconsider() -> Lifecycle? {
        switch word.reconsidered() {
        case .needless: return nil
        case .delegated(let next):
            outcomes.insert(.questionDelegated)
            return next
        case .ask(let next): return next
        }
    }

    private mutating func answer() -> Lifecycle {
        let isReady = generator.chance(60)
        switch word.answered(isReady: isReady) {
        case .askAgain(let next):
            outcomes.insert(.answerAskedAgain)
            return next
        case .settled(let next, let finishNow):
            outcomes.insert(.answerSettled)
            settle(finishNow)
            return next
        case .push(let next):
            outcomes.insert(.answerPushed)
            return next
        }
    }

    private mutating func settle(_ finishNow: Bool) {
        guard finishNow else { return }
        outcomes.insert(.finishedLate)
        isFinishOwed = false
    }

    private mutating func admit() -> Lifecycle? {
        guard word.phase == .starting, word.contains(.admitting) else { return nil }
        switch word.admitted() {
        case .start(let next), .askAgain(let next): return next
        case .putBack: return word.declined()
        case .finish(let next):
            settle(true)
            return next
        }
    }

    private mutating func start() -> Lifecycle? {
        switch word.started(isCancelled: word.isCancelled || generator.chance(10)) {
        case .run(let next):
            runs += 1
            return next
        case .skip(let next):
            runs += 1
            outcomes.insert(.startSkipped)
            return next
        case .alreadyFinished: outcomes.insert(.startTooLate)
        case .alreadyExecuting: outcomes.insert(.startTwice)
        case .inQueue: outcomes.insert(.startInQueue)
        }
        return nil
    }

    private mutating func finish() -> Lifecycle? {
        switch word.finishing() {
        case .claimed(let next, let tooEarly):
            if tooEarly { outcomes.insert(.finishedTooEarly) }
            finishes += 1
            isFinishOwed = false
            return next
        case .delegated(let next):
            outcomes.insert(.finishDelegated)
            isFinishOwed = true
            return next
        case .already:
            outcomes.insert(.finishedAlready)
            return nil
        }
    }
}

// MARK: - The invariants

extension LifecycleWalk {
    private func brokenRule(_ step: Step, from old: Lifecycle, to new: Lifecycle) -> String? {
        brokenPath(step, from: old, to: new) ?? brokenPin(step, from: old, to: new)
            ?? brokenPart(step, from: old, to: new)
    }

    private func brokenPath(_ step: Step, from old: Lifecycle, to new: Lifecycle) -> String? {
        if old.isFinished && !new.isFinished { return "an end was taken back" }
        if runs > 1 { return "an operation started twice" }
        if finishes > 1 { return "two threads finish one operation" }
        if step == .claim && !old.contains(.ready) { return "an operation started that was not ready" }
        if old.isCancelled && !new.isCancelled { return "a cancellation was taken back" }
        if !old.isCancelled && new.isCancelled && old.isFinished { return "a cancellation came after the end" }
        if !old.contains(.ranMain) && new.contains(.ranMain) && step != .end && step != .endAndClaim {
            return "main ran outside main"
        }
        if old.contains(.queued) && !new.contains(.queued) { return "the queue forgot that it holds the operation" }
        if new.phase == .enqueued && !new.contains(.queued) { return "the queue does not know that it holds one" }
        return nil
    }

    private func brokenPin(_ step: Step, from old: Lifecycle, to new: Lifecycle) -> String? {
        let isInQueue = new.phase == .enqueued
        if old.contains(.evaluating) && !isInQueue { return "an operation left the queue while it was asked" }
        if old.isPinned && new.phase == .starting && old.phase == .enqueued { return "a pinned operation started" }
        if new.contains(.evaluating) && !isInQueue { return "an operation is asked outside a queue" }
        if new.contains(.inInbox) && !isInQueue && new.phase != .finishing { return "an inbox holds a stranger" }
        if old.contains(.inInbox) && !new.contains(.inInbox) && step != .drain { return "a pin was stolen" }
        if old.contains(.evaluating) && !new.contains(.evaluating) && step != .answer { return "a question was lost" }
        let isBusy = new.phase == .entering || new.contains(.evaluating) || new.contains(.admitting)
        if new.contains(.askAgain) && !isBusy { return "nobody is there to ask again" }
        if new.contains(.admitting) && new.phase != .starting { return "what is not claimed is admitted" }
        if step == .reconsider && !new.contains(.askAgain) && !new.contains(.evaluating) { return "news was lost" }
        if isBusy && new.contains(.finishAnnounced) != isFinishOwed { return "an announced end was lost or made up" }
        return nil
    }

    private func brokenPart(_ step: Step, from old: Lifecycle, to new: Lifecycle) -> String? {
        if new.priority != birth.priority { return "the owner's priority changed" }
        if new.serviceIndex != birth.serviceIndex { return "the quality of service changed" }
        if new.effectivePriority != old.effectivePriority && ![.enqueue, .reorder, .lend].contains(step) {
            return "the queue's priority changed"
        }
        if new.lentPriority < old.lentPriority { return "what was lent was taken back" }
        if new.phase == .enqueued && new.contains(.inherits) && new.effectivePriority < new.lentPriority {
            return "it stands lower than what waits for it"
        }
        if new.unfinished > old.unfinished && old.hasStarted { return "a dependency held back what had started" }
        if new.unfinished != old.unfinished && step != .hold && step != .release { return "a count went wrong" }
        for flag: Lifecycle.Flags in [.barrier, .observed, .hasDependents]
        where new.contains(flag) != birth.contains(flag) {
            return "a bit that is no transition's business changed"
        }
        return nil
    }
}
