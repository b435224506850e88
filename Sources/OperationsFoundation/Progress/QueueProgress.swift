import Foundation
import Operations

/// The progress of a queue: one unit for each operation that finishes through `main()` (rules G1–G4).
///
/// The counts are kept here, under the lock. What Foundation keeps is a copy in finer units, `resolution` to each, so
/// that operations under way contribute fractions without being children in Foundation's tree. Only the finer number of
/// completed units changes while operations run, one word at a time: a thread that reads `fractionCompleted`, the one
/// member that cannot be overridden, sees the value before or after, and none between.
final class QueueProgress: ContainedProgress, @unchecked Sendable {
    // Sendable: every field is guarded by the lock, but `queue` and `group`, which are constant.

    /// The queue holds its progress and not the other way round.
    private weak var queue: OperationQueue?
    /// The group whose children the queue runs, if it is the queue of one.
    private weak let group: GroupOperation?
    /// It is that of a group, which counts its children itself.
    let isOfGroup: Bool
    var total: Int64 = 0
    var completed: Int64 = 0
    /// The operations whose `main()` runs now, with the number of their begin.
    var running: [ObjectIdentifier: (progress: OperationProgress, number: Int)] = [:]
    var begun = 0
    /// Who is told of changes; see `ticks`.
    var watchers: [Int: AsyncStream<Void>.Continuation] = [:]
    var watchersSoFar = 0
    /// Its observers. It is its own, for the queue asks for it at each operation.
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

    deinit { for watcher in watchers.values { watcher.finish() } }

    // MARK: - Counts

    /// The operations that the whole work consists of. Nothing is reported while it is not above 0 (rule G1).
    override var totalUnitCount: Int64 {
        get { withLock { total } }
        set { change { total = newValue } }
    }

    /// The units done.
    override var completedUnitCount: Int64 {
        get {
            lookDown()
            return withLock { completed }
        }
        set { change { completed = newValue } }
    }

    /// Whether there is nothing to report, because no total is set.
    override var isIndeterminate: Bool { withLock { total < 0 || completed < 0 || (total == 0 && completed == 0) } }

    /// Ends `becomeCurrent(withPendingUnitCount:)`: adds the pending units, unless a child took them.
    override func resignCurrent() {
        change {
            // Foundation adds the pending units to its own count, past the override.
            let before = super.completedUnitCount
            super.resignCurrent()
            completed += super.completedUnitCount - before
        }
    }

    override func fraction() -> Double {
        copyDown()
        return fractionCompleted
    }

    /// The three numbers as of one moment, fractions of running operations included.
    var update: OperationQueue.ProgressUpdates.Element {
        lookDown()
        return withLock {
            .init(fractionCompleted: fractionCompleted, completedUnitCount: completed, totalUnitCount: total)
        }
    }

    /// Takes in what operations under way, and children, have done meanwhile.
    func lookDown() { change { takeInSilent() } }

    /// Makes a change of the counts, under the lock, and reports it, without.
    func change(_ body: () -> Void) { ProgressTree.change(self, body) }

    override func settle(_ units: Int64) { completed += units }

    /// Writes Foundation's copy. Under the lock.
    func copyDown() {
        // Foundation traps when a total goes from above 0 to 0 or below. So the copy keeps its own, with nothing done.
        guard total > 0 else { return setCopy(completed: 0) }
        let limit = Int64.max / (4 * Self.resolution)
        let resolution = max(total.magnitude, completed.magnitude) < limit ? Self.resolution : 1
        var fine = completed * resolution
        if resolution > 1 {
            for operation in running.values { fine += operation.progress.parts(resolution: resolution) }
            fine = fine.addingReportingOverflow(partsOfChildren(resolution: resolution)).partialValue
        }
        if super.totalUnitCount != total * resolution { super.totalUnitCount = total * resolution }
        setCopy(completed: fine)
    }

    private func setCopy(completed fine: Int64) {
        if super.completedUnitCount != fine { super.completedUnitCount = fine }
    }

    // MARK: - Steering

    override func cancel() {
        super.cancel()
        if let group { group.cancel() } else { queue?.cancelAllOperations() }
        for operation in underWay() { operation.cancel() }
    }

    override func pause() {
        super.pause()
        holdQueue()
        for operation in underWay() { tellHold(operation) }
    }

    override func resume() {
        super.resume()
        for operation in underWay() { tellHold(operation) }
        holdQueue()
    }

    private func holdQueue() {
        passHold { isOnHold in
            if let group { group.setPaused(isOnHold) } else { queue?.setPaused(isOnHold) }
        }
    }

    private func underWay() -> [OperationProgress] {
        withLock { running.values.sorted { $0.number < $1.number }.map(\.progress) }
    }
}
