// Steps 3 and 4 in one stride, for block operations that are nothing but that: the class itself, whose `start` and `main`
// are known; not cancelled, not observed but perhaps for the end, in a queue without progress. What a user sees is the
// same. It saves two swaps of the word and one taking of the queue's lock.

import SchedulerCore
import Synchronization

extension Operation {
    /// Nothing is overridden: what its properties would say stands in the word.
    @inline(__always)
    final var isPlainBlock: Bool { type(of: self) == BlockOperation.self }

    /// A property as the flow asks for it: read off the word of a plain block operation; of any other one as overridden.
    @inline(__always)
    final func asked<Answer>(_ known: (Lifecycle) -> Answer, else read: () -> Answer) -> Answer {
        isPlainBlock ? known(word.lifecycle) : untracked(read)
    }

    enum PlainRun {
        /// Not that plain: `start()` has to be called.
        case declined
        /// It has run and claimed its end, and still has to leave its queue.
        case ended
        /// It has run and gone the long way to its end.
        case finished
    }

    /// Runs a `BlockOperation` that was claimed by the worker of this thread.
    final func runPlainly(on worker: Worker) -> PlainRun {
        let queue = queue.unsafelyUnwrapped
        guard queue._withUnsafeGuaranteedRef({ !$0.hooks.isSet }),
            let start = word.update({ $0.startedPlainly(isSilent: isEndAllThatIsObserved) })
        else { return .declined }
        // Asked again, here and at the end: somebody else may have begun to observe since, which the word does not tell.
        if start.contains(.observed), !isEndAllThatIsObserved { announceLate([.isExecuting], since: nil) }
        unsafeDowncast(self, to: BlockOperation.self).runBlocks()
        // Asked again: the progress may have been read for the first time while the block ran.
        let isHooked = queue._withUnsafeGuaranteedRef { $0.hooks.isSet }
        if isHooked { queue.takeUnretainedValue().progressReporter?.didRunMain(of: self) }
        guard let lifecycle = word.update({ $0.endedPlainly(isSimple: isEndAllThatIsObserved) }) else {
            // It leaves the queue in there, which is all that holds it.
            withExtendedLifetime(Unmanaged.passUnretained(self).takeUnretainedValue()) { endAnnounced() }
            return .finished
        }
        if lifecycle.contains(.observed) {
            announceLate(isEndAllThatIsObserved ? [.isFinished] : [.isExecuting, .isFinished], since: nil)
        }
        worker.willFinish(self)
        if isHooked { queue.takeUnretainedValue().tellWatchers(.hasFinished, of: self) }
        if lifecycle.contains(.hasFailed) { keepFailureHandler(of: queue.takeUnretainedValue()) }
        if lifecycle.contains(.hasDependents) { tellDependents() }
        return .ended
    }

    /// Observers want to know of the start nothing, and of the end only that it has come.
    private final var isEndAllThatIsObserved: Bool {
        guard let attachments else { return false }
        let interest = attachments.currentInterest
        return !interest.observed.contains(.isExecuting)
            && interest.before.isDisjoint(with: [.isExecuting, .isFinished])
    }
}
