public import Foundation
public import Operations

extension GroupOperation {
    /// The progress of the children: one unit for each child that was added. A unit is complete when its child has ended, with
    /// any outcome.
    ///
    /// If the group runs in a queue with a progress, this progress is a fraction of the group's unit in the queue's progress.
    /// If it already has a parent, it stays a fraction of that parent, and the group's unit is complete when the group has ended.
    /// The same applies to a group in a group. A `Progress(totalUnitCount:)` that a child creates is a fraction of the child's
    /// unit. Cancelling this progress, or the queue's progress, cancels the group. While it is paused, no further child starts.
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
