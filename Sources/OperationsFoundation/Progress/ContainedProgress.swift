import Foundation

/// A progress that keeps its children beside Foundation's tree instead of in it, under one lock.
///
/// Foundation's tree on Linux has no lock: a child that is updated writes into all its ancestors, on its own thread. Two
/// operations that report at the same time would write into the queue's progress at the same time. So what is added to
/// one of these never gets a parent; who wants to know how far it is looks down (`fraction`) instead of being told.
///
/// Subclasses: `QueueProgress`, and `OperationProgress`, which is `Progress.current()` inside a `main()`.
class ContainedProgress: Progress, @unchecked Sendable {
    // Sendable: every field is guarded by `lock`, also the counts inherited from Foundation where the system writes.

    /// The one lock of all these. One for all, because a queue's progress may be a child of another queue's, and is then
    /// read under the lock of both. Recursive, because Foundation calls overridden members in the midst of its own.
    private static let lock = NSRecursiveLock()

    private var children: [Child] = []
    private var wasCancelled = false
    private var isOnHold = false

    private struct Child {
        let progress: Progress
        let units: Int64
    }

    init() { super.init(parent: nil, userInfo: nil) }

    /// Runs a critical section. No code of the user's is called inside, and nothing of the user's released.
    final func withLock<Result>(_ body: () -> Result) -> Result { Self.lock.withLock(body) }

    // MARK: - Children

    /// Takes a child in, explicit or implicit: Foundation, too, adds every child by this member.
    override func addChild(_ child: Progress, withPendingUnitCount units: Int64) {
        let (isCancelled, isPaused) = withLock {
            children.append(Child(progress: child, units: units))
            return (wasCancelled, isOnHold)
        }
        if isCancelled { child.cancel() }
        if isPaused { tellHold(child) }
    }

    /// The units of this progress that children have done so far, in parts of `resolution` a unit. Under the lock.
    ///
    /// A plain child that another thread is updating at this moment is read without a lock, for it has none. It may be
    /// read as halfway between two values; the next look puts that right.
    final func partsOfChildren(resolution: Int64) -> Int64 {
        children.reduce(into: 0) { sum, child in
            let parts = (Double(child.units) * Self.fraction(of: child.progress) * Double(resolution)).rounded()
            sum = sum.addingReportingOverflow(Int64(exactly: parts) ?? 0).partialValue
        }
    }

    /// Takes out the children that are finished, answering the units they have done. Under the lock.
    ///
    /// - Parameter gone: Receives them, to be released without the lock.
    final func settleChildren(gone: inout [Progress]) -> Int64 {
        guard !children.isEmpty else { return 0 }
        var units: Int64 = 0
        children.removeAll { child in
            // Not `isFinished`, which the user may have overridden.
            guard Self.fraction(of: child.progress) == 1 else { return false }
            units += child.units
            gone.append(child.progress)
            return true
        }
        return units
    }

    /// How far it is, from 0 to 1, as of this moment. Under the lock.
    func fraction() -> Double { fractionCompleted }

    private static func fraction(of child: Progress) -> Double {
        let fraction = (child as? ContainedProgress)?.fraction() ?? child.fractionCompleted
        return fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    }

    // MARK: - Steering

    // A child is told by who adds it or by who cancels: each reads or writes the mark under the lock. So is an operation's
    // progress that begins at this moment: it takes the marks over, or is there to be told.

    /// Begins as cancelled or paused as another. Under the lock.
    final func takeOver(from parent: ContainedProgress) {
        wasCancelled = parent.wasCancelled
        isOnHold = parent.isOnHold
    }

    override func cancel() {
        let children = mark(\.wasCancelled, true)
        super.cancel()
        for child in children { child.cancel() }
    }

    override func pause() {
        let children = mark(\.isOnHold, true)
        super.pause()
        for child in children { tellHold(child) }
    }

    override func resume() {
        let children = mark(\.isOnHold, false)
        super.resume()
        for child in children { tellHold(child) }
    }

    /// Says whether this is on hold, and says it again when that has changed meanwhile: of several threads that pause and
    /// resume, whoever tells last tells what is true.
    final func passHold(_ tell: (_ isOnHold: Bool) -> Void) {
        while true {
            let known = withLock { isOnHold }
            tell(known)
            if withLock({ isOnHold }) == known { return }
        }
    }

    final func tellHold(_ child: Progress) { passHold { $0 ? child.pause() : child.resume() } }

    /// Sets a mark; answers the children to tell, none when it was set so before.
    private func mark(_ path: ReferenceWritableKeyPath<ContainedProgress, Bool>, _ value: Bool) -> [Progress] {
        withLock {
            guard self[keyPath: path] != value else { return [] }
            self[keyPath: path] = value
            return children.map(\.progress)
        }
    }
}
