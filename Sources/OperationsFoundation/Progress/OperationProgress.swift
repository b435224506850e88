import Foundation

/// One unit of a queue's progress, which is `Progress.current()` while an operation's `main()` runs.
///
/// The first `Progress` that is created on the thread of `main()` becomes a child, and so a fraction of the queue's unit.
final class OperationProgress: ContainedProgress, @unchecked Sendable {
    // Sendable: see `ContainedProgress`.

    override init() {
        super.init()
        super.totalUnitCount = 1
    }

    // Foundation's counts need the lock, because a reader of the queue's progress reads them on another thread.

    override var totalUnitCount: Int64 {
        get { withLock { super.totalUnitCount } }
        // Foundation traps when the total becomes 0.
        set { ProgressTree.change(self) { super.totalUnitCount = max(newValue, 1) } }
    }

    override var completedUnitCount: Int64 {
        get { withLock { super.completedUnitCount } }
        set { ProgressTree.change(self) { super.completedUnitCount = newValue } }
    }

    override func resignCurrent() {
        ProgressTree.change(self) {
            // From 0, because Foundation traps if the sum is too large.
            let before = super.completedUnitCount
            super.completedUnitCount = 0
            super.resignCurrent()
            super.completedUnitCount = before.saturatingAdding(super.completedUnitCount)
        }
    }

    /// Returns the completed parts of the unit, always less than the whole unit. The unit is counted when `main()` has
    /// returned.
    func parts(resolution: Int64) -> Int64 {
        let own = Double(super.completedUnitCount) * Double(resolution)
        let parts = (own + Double(partsOfChildren(resolution: resolution))) / Double(super.totalUnitCount)
        return Int64(min(max(parts.rounded(), 0), Double(resolution - 1)))
    }

    override func settle(_ units: Int64) {
        super.completedUnitCount = super.completedUnitCount.saturatingAdding(units)
    }

    override func fraction() -> Double { Double(parts(resolution: 1 << 40)) / Double(1 << 40) }

    /// Makes the progress `Progress.current()` on this thread.
    func begin() { becomeCurrent(withPendingUnitCount: 1) }

    /// Undoes `begin()`. The function also resigns each progress that the operation made current and did not resign.
    func end() {
        while let current = Progress.current() {
            current.resignCurrent()
            if current === self { return }
        }
    }
}
