import Foundation

/// One unit of a queue's progress while an operation's `main()` runs: `Progress.current()` in there (rule G2).
///
/// The first `Progress` made on the thread of `main()` becomes its child, and so a fraction of the queue's unit.
final class OperationProgress: ContainedProgress, @unchecked Sendable {
    // Sendable: see `ContainedProgress`.

    override init() {
        super.init()
        super.totalUnitCount = 1
    }

    // Foundation's counts, behind the lock: whoever looks at the queue's progress reads them from another thread.

    override var totalUnitCount: Int64 {
        get { withLock { super.totalUnitCount } }
        // Foundation traps when it goes to 0.
        set { ProgressTree.change(self) { super.totalUnitCount = max(newValue, 1) } }
    }

    override var completedUnitCount: Int64 {
        get { withLock { super.completedUnitCount } }
        set { ProgressTree.change(self) { super.completedUnitCount = newValue } }
    }

    override func resignCurrent() { ProgressTree.change(self) { super.resignCurrent() } }

    /// The parts of its one unit that are done, less than the whole: the unit is counted when `main()` has returned.
    func parts(resolution: Int64) -> Int64 {
        let own = Double(super.completedUnitCount) * Double(resolution)
        let parts = (own + Double(partsOfChildren(resolution: resolution))) / Double(super.totalUnitCount)
        return Int64(min(max(parts.rounded(), 0), Double(resolution - 1)))
    }

    override func settle(_ units: Int64) { super.completedUnitCount += units }

    override func fraction() -> Double { Double(parts(resolution: 1 << 40)) / Double(1 << 40) }

    /// Makes it `Progress.current()` of this thread.
    func begin() { becomeCurrent(withPendingUnitCount: 1) }

    /// Undoes `begin()`, and what the operation made current and forgot to resign.
    func end() {
        while let current = Progress.current() {
            current.resignCurrent()
            if current === self { return }
        }
    }
}
