// Steps 3 and 4 in one stride, for block operations that are nothing but that: the class itself, whose `start` and `main`
// are known; not cancelled, not observed, in a queue without progress. What a user sees is the same. It saves two swaps
// of the word and one taking of the queue's lock.

import SchedulerCore
import Synchronization

extension Operation {
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
        guard queue._withUnsafeGuaranteedRef({ !$0.reporterReference.isSet }),
            word.update({ $0.startedPlainly() }) != nil
        else { return .declined }
        unsafeDowncast(self, to: BlockOperation.self).runBlocks()
        // Asked again: the progress may have been read for the first time while the block ran.
        queue._withUnsafeGuaranteedRef { $0.progressReporter }?.didRunMain(of: self)
        guard let lifecycle = word.update({ $0.endedPlainly() }) else {
            endAnnounced()
            return .finished
        }
        worker.willFinish(self)
        if lifecycle.contains(.hasDependents) { tellDependents() }
        return .ended
    }
}
