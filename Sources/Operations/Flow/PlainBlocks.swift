// Steps 3 and 4 as one step, for plain block operations: operations of the class itself, whose `start` and `main` are
// known. They are not cancelled, and are observed at most for their end, in a queue without progress. The behavior for
// the user is the same. This saves two exchanges of the word and one use of the queue's lock.

import SchedulerCore
import Synchronization

extension Operation {
    /// Whether no property is overridden, so that the word has the value of each property.
    @inline(__always)
    final var isPlainBlock: Bool { type(of: self) == BlockOperation.self }

    /// Returns a property for the flow: from the word for a plain block operation, and from the property, overridden or
    /// not, for any other operation.
    @inline(__always)
    final func asked<Answer>(_ known: (Lifecycle) -> Answer, else read: () -> Answer) -> Answer {
        isPlainBlock ? known(word.lifecycle) : untracked(read)
    }

    enum PlainRun {
        /// The operation is not plain enough: `start()` has to be called.
        case declined
        /// The operation has run and claimed its end. It has yet to leave its queue.
        case ended
        /// The operation has run and finished by the general path.
        case finished
    }

    /// Runs a `BlockOperation` that was claimed by the worker of this thread.
    final func runPlainly(on worker: Worker) -> PlainRun {
        let queue = queue.unsafelyUnwrapped
        guard queue._withUnsafeGuaranteedRef({ !$0.hooks.isSet }),
            let start = word.update({ $0.startedPlainly(isSilent: isEndAllThatIsObserved) })
        else { return .declined }
        // Read again, here and at the end, because an observer may have been added since, which the word does not show.
        if start.contains(.observed), !isEndAllThatIsObserved { announceLate([.isExecuting], since: nil) }
        unsafeDowncast(self, to: BlockOperation.self).runBlocks()
        // Read again, because the progress may have been used for the first time while the block ran.
        let isHooked = queue._withUnsafeGuaranteedRef { $0.hooks.isSet }
        if isHooked { queue.takeUnretainedValue().progressReporter?.didRunMain(of: self) }
        guard let lifecycle = word.update({ $0.endedPlainly(isSimple: isEndAllThatIsObserved) }) else {
            // The operation leaves its queue in `endAnnounced`, and only the queue holds it.
            withExtendedLifetime(Unmanaged.passUnretained(self).takeUnretainedValue()) { endAnnounced() }
            return .finished
        }
        if lifecycle.contains(.observed) {
            announceLate(isEndAllThatIsObserved ? [.isFinished] : [.isExecuting, .isFinished], since: nil)
        }
        worker.willFinish(self)
        if isHooked { queue.takeUnretainedValue().notifyWatchers(.hasFinished, of: self) }
        if lifecycle.contains(.hasFailed) { keepFailureHandler(of: queue.takeUnretainedValue()) }
        if lifecycle.contains(.hasDependents) { notifyDependents() }
        return .ended
    }

    /// Whether no observer needs the start, and observers of the end need only the fact of the end.
    private final var isEndAllThatIsObserved: Bool {
        guard let attachments else { return false }
        let interest = attachments.currentInterest
        return !interest.observed.contains(.isExecuting)
            && interest.before.isDisjoint(with: [.isExecuting, .isFinished])
    }
}
