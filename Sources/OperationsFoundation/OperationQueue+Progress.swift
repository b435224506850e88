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
    /// Inside `main()`, `Progress(totalUnitCount:)` is a child that contributes a fraction of the unit. Reading this
    /// property takes in how far such children are; a progress that was read earlier and kept shows it as of the last
    /// read or the last unit.
    ///
    /// Cancelling the progress cancels what is in the queue, pausing it suspends the queue, resuming it resumes it.
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
