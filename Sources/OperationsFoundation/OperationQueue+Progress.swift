public import Foundation
public import Operations

extension OperationQueue {
    /// The progress of the queue's operations (rules G1–G4).
    ///
    /// It reports nothing until its `totalUnitCount` is set. From then on each operation that finishes through `main()`
    /// adds one unit, at any width, from any thread; one that overrides `start()` without calling super, one that is
    /// skipped because it was cancelled, and a barrier block add none. Set `totalUnitCount` before adding operations, or
    /// in a barrier block, where no operation runs.
    ///
    /// Inside `main()`, `Progress(totalUnitCount:)` is a child that contributes a fraction of the unit. Each change of a
    /// child reaches this progress, its observers and the progress above it at once, on the thread that makes the change
    /// (rule A7). What a child of a subclass of `Progress` does comes up within a twentieth of a second.
    ///
    /// Cancelling the progress cancels what is in the queue. As with every `Progress` that is final: children that operations
    /// make later are cancelled, the operations themselves are not. Pausing it suspends the queue; resuming it resumes the
    /// queue, unless the queue was suspended already when the progress was paused.
    public final var progress: Progress {
        let progress = queueProgress
        progress.lookDown()
        return progress
    }

    /// The states that `progress` goes through.
    public final var progressUpdates: ProgressUpdates { ProgressUpdates(of: queueProgress) }

    /// Made when first asked for; of several threads that are the first, one makes the one that stays.
    private var queueProgress: QueueProgress {
        let reporter = progressReporter ?? installProgressReporter(QueueProgress(of: self))
        return reporter as! QueueProgress
    }
}

#if !canImport(ObjectiveC)
extension OperationQueue: ProgressReporting {}
#endif
