import Foundation
import Operations

/// A progress that stores its children beside Foundation's tree, under one lock.
///
/// Foundation's tree on Linux has no lock. An updated child writes into all its ancestors, on its own thread. Two operations
/// that report at the same time would write into the queue's progress at the same time. A child that is added to a
/// `ContainedProgress` therefore never gets a parent in Foundation's tree. `ProgressTree` propagates its changes.
///
/// The subclasses are `QueueProgress`, and `OperationProgress`, which is `Progress.current()` inside a `main()`.
class ContainedProgress: Progress, @unchecked Sendable {
    // Sendable: the lock guards every property, including the inherited counts where the system writes them.

    /// The parent, as far as it is known here.
    final weak var parent: Progress?
    private var children: [ObjectIdentifier: Child] = [:]
    /// The completed parts of all children together.
    private var parts: Int64 = 0
    /// The children that need a lookout for some or all of their changes.
    private var silent: Set<ObjectIdentifier> = []
    private var hasLookout = false
    private var wasCancelled = false
    private var isOnHold = false
    private var lastNumber = 0

    /// The number of parts of a unit. It is divisible by all numbers up to 16 and by 1000, so common fractions are exact.
    static let resolution: Int64 = 18_018_000

    private struct Child {
        let progress: Progress
        let units: Int64
        let number: Int
        /// The key-value observation, on Apple's systems.
        let observation: AnyObject?
        var parts: Int64 = 0
    }

    init() { super.init(parent: nil, userInfo: nil) }

    deinit { if !(self is QueueProgress) { ProgressTree.isGone(ObjectIdentifier(self)) } }

    /// Runs a critical section. The body must not call user code and must not release user objects.
    final func withLock<Result>(_ body: () -> Result) -> Result { ProgressTree.withLock(body) }

    // MARK: - Children

    /// Adds a child, explicit or implicit. Foundation adds every child by this member too.
    ///
    /// A child that is this progress or one of its ancestors is not added. Its changes would climb in a circle.
    override func addChild(_ child: Progress, withPendingUnitCount units: Int64) {
        // A child that Foundation's `init` is creating has no units yet. Any other child may have children already.
        let isNew = child.totalUnitCount == 0 && Progress.current() === self
        let id = ObjectIdentifier(child)
        #if canImport(ObjectiveC)
        let observation: AnyObject? = child.observe(\.fractionCompleted) { [weak self] _, _ in
            if let self { ProgressTree.change(self) { self.takeIn(id) } }
        }
        #else
        let observation: AnyObject? = nil
        #endif
        var (isCancelled, isPaused, beginsLookout) = (false, false, false)
        var isRefused = false
        ProgressTree.change(self) {
            guard let isPushed = ProgressTree.adopt(child, by: self, isNew: isNew) else { return isRefused = true }
            lastNumber += 1
            children[id] = Child(progress: child, units: units, number: lastNumber, observation: observation)
            if observation == nil, !isPushed {
                silent.insert(id)
                beginsLookout = !hasLookout
                hasLookout = true
            }
            takeIn(id)
            (isCancelled, isPaused) = (wasCancelled, isOnHold)
        }
        if isRefused { Log.warning("a progress is not added to itself or to one of its descendants") }
        if beginsLookout { ProgressLookout.begin(for: self) }
        if isCancelled { child.cancel() }
        if isPaused { notifyHold(child) }
    }

    /// Whether any progress may have this one as its parent. Called under the lock.
    var hasChildren: Bool { !children.isEmpty }

    /// Updates the parts of a child. O(1). Called under the lock.
    ///
    /// - Returns: Whether the units that the children have completed changed.
    @discardableResult
    final func takeIn(_ id: ObjectIdentifier) -> Bool {
        guard let child = children[id] else { return false }
        // `isFinished` is not used here, because the user may have overridden it.
        let fraction = Self.fraction(of: child.progress)
        let done = Double(child.units) * Double(Self.resolution) * fraction
        let new = fraction == 1 ? 0 : Int64(exactly: done.rounded()) ?? 0
        parts = parts.addingReportingOverflow(new.subtractingReportingOverflow(child.parts).partialValue).partialValue
        children[id]?.parts = new
        guard fraction == 1 else { return new != child.parts }
        children[id] = nil
        silent.remove(id)
        ProgressTree.abandon(child.progress, by: self)
        ProgressTree.release(child.progress)
        if let observation = child.observation { ProgressTree.release(observation) }
        settle(child.units)
        return true
    }

    /// Updates the parts of all children that need a lookout. O(number of those children). Called under the lock.
    final func takeInSilent() { for id in silent { takeIn(id) } }

    /// Adds the units of a finished child to this progress. Called under the lock.
    func settle(_ units: Int64) {}

    /// Whether no child needs a lookout any more.
    final func endsLookout() -> Bool {
        withLock {
            hasLookout = !silent.isEmpty
            return !hasLookout
        }
    }

    /// Returns the units of this progress that the children have completed, in parts of `resolution` per unit. Called under the
    /// lock.
    ///
    /// A child of a subclass has no lock. If another thread is updating the child at this moment, the result may lie between
    /// two values. The next look corrects the result.
    final func partsOfChildren(resolution: Int64) -> Int64 {
        if resolution == Self.resolution { return parts }
        return Int64(exactly: (Double(parts) / Double(Self.resolution) * Double(resolution)).rounded()) ?? 0
    }

    /// Returns the completed fraction at this moment, from 0 to 1. Called under the lock.
    func fraction() -> Double { fractionCompleted }

    private static func fraction(of child: Progress) -> Double {
        let fraction = (child as? ContainedProgress)?.fraction() ?? child.fractionCompleted
        return fraction.isNaN ? 0 : min(max(fraction, 0), 1)
    }

    // MARK: - Cancelling, pausing and resuming

    // The thread that adds a child and the thread that cancels both use the mark under the lock. One of them therefore passes
    // the mark on to the child. The progress of an operation that begins at this moment copies the marks, or is found by the
    // other thread.

    /// Copies the cancelled and paused marks of the parent. Called under the lock.
    final func takeOver(from parent: ContainedProgress) {
        wasCancelled = parent.wasCancelled
        isOnHold = parent.isOnHold
    }

    override func cancel() {
        let children = mark(\.wasCancelled, true)
        super.cancel()
        for child in children { child.cancel() }
        ProgressTree.change(self) {}
    }

    override func pause() {
        let children = mark(\.isOnHold, true)
        super.pause()
        for child in children { notifyHold(child) }
        ProgressTree.change(self) {}
    }

    override func resume() {
        let children = mark(\.isOnHold, false)
        super.resume()
        for child in children { notifyHold(child) }
        ProgressTree.change(self) {}
    }

    /// Passes on whether this progress is paused, and repeats the call if the mark has changed meanwhile. If several threads
    /// pause and resume, the last call therefore has the current mark.
    final func passHold(_ notify: (_ isOnHold: Bool) -> Void) {
        while true {
            let known = withLock { isOnHold }
            notify(known)
            if withLock({ isOnHold }) == known { return }
        }
    }

    final func notifyHold(_ child: Progress) { passHold { $0 ? child.pause() : child.resume() } }

    /// Sets a mark. Returns the children to pass the mark on to; none if the mark already had this value.
    private func mark(_ path: ReferenceWritableKeyPath<ContainedProgress, Bool>, _ value: Bool) -> [Progress] {
        withLock {
            guard self[keyPath: path] != value else { return [] }
            self[keyPath: path] = value
            return children.values.sorted { $0.number < $1.number }.map(\.progress)
        }
    }
}

extension Int64 {
    /// The sum, or the nearest number that there is. Progresses may have any numbers (rule A19).
    func saturatingAdding(_ other: Int64) -> Int64 {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }
}
