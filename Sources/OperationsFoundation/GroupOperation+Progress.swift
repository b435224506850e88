public import Foundation
public import Operations

extension GroupOperation {
    /// The progress of the children: a unit for each that was added so far, done when it has ended in whatever way.
    ///
    /// While the group runs in a queue that has a progress, it is the fraction of the group's unit there; groups in groups
    /// likewise. A child's own `Progress(totalUnitCount:)` is a fraction of the child's unit. Cancelling it, or the
    /// queue's, cancels the group; pausing it lets no further child start, resuming it does.
    public final var progress: Progress {
        let reporter =
            childQueue.progressReporter
            ?? childQueue.installProgressReporter(QueueProgress(of: childQueue, group: self))
        let progress = reporter as! QueueProgress
        let (added, ended) = childCounts
        progress.childrenCounted(added: added, ended: ended)
        progress.lookDown()
        return progress
    }
}
