public import Foundation
public import Operations

extension OperationQueue {
    /// The progress of the queue's operations.
    ///
    /// The progress reports nothing until its `totalUnitCount` is set. From then on, each operation that finishes through
    /// `main()` adds one unit, with any concurrency limit and from any thread. Three kinds of operation add no unit:
    ///
    /// - an operation that overrides `start()` without calling super
    /// - an operation that is skipped because it was cancelled
    /// - a barrier block
    ///
    /// Set `totalUnitCount` before you add operations, or in a barrier block, during which no operation runs.
    ///
    /// A `Progress(totalUnitCount:)` that is created inside `main()` is a child, and contributes a fraction of the unit. Each
    /// change of a child updates this progress, its observers and its parent at once, on the thread that makes the change. If
    /// the child is of a subclass of `Progress`, the change arrives within 50 ms. In optimized code, the same applies to a change
    /// in the function that creates the child.
    ///
    /// Cancelling the progress cancels the operations in the queue. The cancellation is final, as with every `Progress`:
    /// children that later operations create are cancelled, although these operations are not. Pausing the progress suspends
    /// the queue. Resuming the progress resumes the queue, unless the queue was already suspended at the pause.
    public final var progress: Progress {
        let progress = queueProgress
        progress.lookDown()
        return progress
    }

    /// The states of `progress`, as an asynchronous sequence.
    public final var progressUpdates: ProgressUpdates { ProgressUpdates(of: queueProgress) }

    /// The reporter, which is made at the first use. If several threads make one at the same time, the queue keeps only one.
    private var queueProgress: QueueProgress {
        let reporter = progressReporter ?? installProgressReporter(QueueProgress(of: self))
        return reporter as! QueueProgress
    }
}

#if !canImport(ObjectiveC)
extension OperationQueue: ProgressReporting {}
#endif
