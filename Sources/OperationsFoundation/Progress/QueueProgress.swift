import Foundation
import Operations

/// The progress of a queue: one unit for each operation that finishes through `main()`.
///
/// The counts are stored here, under the lock. Foundation stores a copy in finer units, with `resolution` fine units per unit.
/// Running operations therefore contribute fractions without being children in Foundation's tree. While operations run, only
/// the fine number of completed units changes, as one word. The member `fractionCompleted` cannot be overridden, but its reader
/// sees a value from before or after a change, and no value in between.
final class QueueProgress: ContainedProgress, @unchecked Sendable {
    // Sendable: the lock guards every property except `queue` and `group`, which are constant.

    /// A weak reference, because the queue holds its progress.
    private weak var queue: OperationQueue?
    /// The group whose children the queue runs; nil for an ordinary queue.
    private weak let group: GroupOperation?
    /// Whether this is the progress of a group, which counts its children itself.
    let isOfGroup: Bool
    var total: Int64 = 0
    var completed: Int64 = 0
    /// The operations whose `main()` is running, each with a number in order of their starts.
    var running: [ObjectIdentifier: (progress: OperationProgress, number: Int)] = [:]
    var begun = 0
    /// The streams that receive a tick after each change; nil after the queue's deallocation. See `ticks`.
    var watchers: [Int: AsyncStream<Void>.Continuation]? = [:]
    var watchersSoFar = 0
    /// The observers. The link is stored here because the queue uses it at each operation.
    let link: ProgressLink

    init(of queue: OperationQueue, group: GroupOperation? = nil) {
        self.queue = queue
        self.group = group
        isOfGroup = group != nil
        link = ProgressLink(nil)
        super.init()
        isCancellable = true
        isPausable = queue !== OperationQueue.main
        withLock { link.begin(self) }
    }

    // MARK: - Counts

    /// The number of operations in the whole work. The progress reports nothing unless the number is above 0.
    override var totalUnitCount: Int64 {
        get { withLock { total } }
        set { change { total = newValue } }
    }

    /// The number of completed units.
    override var completedUnitCount: Int64 {
        get {
            lookDown()
            return withLock { completed }
        }
        set { change { completed = newValue } }
    }

    /// Whether the progress reports nothing, because no total is set.
    override var isIndeterminate: Bool { withLock { total < 0 || completed < 0 || (total == 0 && completed == 0) } }

    /// Ends `becomeCurrent(withPendingUnitCount:)`: adds the pending units, unless a child has used them.
    override func resignCurrent() {
        change {
            // Foundation adds the pending units to its own count, and does not use the override.
            // From 0, because Foundation traps if the sum is too large.
            setCopy(completed: 0)
            super.resignCurrent()
            completed = completed.saturatingAdding(super.completedUnitCount)
        }
    }

    override func fraction() -> Double {
        copyDown()
        return fractionCompleted
    }

    /// The three numbers at one moment, including fractions of running operations. Foundation's fraction exceeds 1 when more
    /// operations finish than the total.
    var update: OperationQueue.ProgressUpdates.Element {
        lookDown()
        return withLock {
            .init(fractionCompleted: min(fractionCompleted, 1), completedUnitCount: completed, totalUnitCount: total)
        }
    }

    /// Updates the counts from children whose changes are not pushed.
    func lookDown() { change { takeInSilent() } }

    /// Makes a change of the counts under the lock, and then reports it without the lock.
    func change(_ body: () -> Void) { ProgressTree.change(self, body) }

    override func settle(_ units: Int64) { completed = completed.saturatingAdding(units) }

    override var hasChildren: Bool { super.hasChildren || !running.isEmpty }

    /// Writes Foundation's copy. Called under the lock.
    ///
    /// - Returns: Whether the copy changed.
    @discardableResult
    func copyDown() -> Bool {
        // Foundation traps when a total changes from above 0 to 0 or below. The copy then keeps its total, with 0 completed
        // units.
        guard total > 0 else { return setCopy(completed: 0) }
        let limit = Int64.max / (4 * Self.resolution)
        let resolution = max(total.magnitude, completed.magnitude) < limit ? Self.resolution : 1
        var fine = completed * resolution
        if resolution > 1 {
            for operation in running.values { fine += operation.progress.parts(resolution: resolution) }
            fine = fine.addingReportingOverflow(partsOfChildren(resolution: resolution)).partialValue
        }
        let hasNewTotal = super.totalUnitCount != total * resolution
        if hasNewTotal { super.totalUnitCount = total * resolution }
        return setCopy(completed: fine) || hasNewTotal
    }

    @discardableResult
    private func setCopy(completed fine: Int64) -> Bool {
        guard super.completedUnitCount != fine else { return false }
        super.completedUnitCount = fine
        return true
    }

    // MARK: - Cancelling, pausing and resuming

    override func cancel() {
        super.cancel()
        if let group { group.cancel() } else { queue?.cancelAllOperations() }
        for operation in underWay() { operation.cancel() }
    }

    override func pause() {
        super.pause()
        holdQueue()
        for operation in underWay() { notifyHold(operation) }
    }

    override func resume() {
        super.resume()
        for operation in underWay() { notifyHold(operation) }
        holdQueue()
    }

    private func holdQueue() {
        passHold { isOnHold in
            if let group { if isOnHold { group.pause() } else { group.resume() } } else { queue?.setPaused(isOnHold) }
        }
    }

    private func underWay() -> [OperationProgress] {
        withLock { running.values.sorted { $0.number < $1.number }.map(\.progress) }
    }
}
