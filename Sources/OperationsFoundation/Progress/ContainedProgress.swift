import Foundation

/// A progress that keeps its children beside Foundation's tree instead of in it, under one lock.
///
/// Foundation's tree on Linux has no lock: a child that is updated writes into all its ancestors, on its own thread. Two
/// operations that report at the same time would write into the queue's progress at the same time. So what is added to
/// one of these never gets a parent in that tree. Its changes come up by way of `ProgressTree`.
///
/// Subclasses: `QueueProgress`, and `OperationProgress`, which is `Progress.current()` inside a `main()`.
class ContainedProgress: Progress, @unchecked Sendable {
    // Sendable: every field is guarded by the lock, also the counts inherited from Foundation where the system writes.

    /// The progress above it, as far as that is known here.
    final weak var parent: Progress?
    private var children: [ObjectIdentifier: Child] = [:]
    /// What all of them have done together.
    private var parts: Int64 = 0
    /// Those whose changes, or some of them, have to be looked for.
    private var silent: Set<ObjectIdentifier> = []
    private var hasLookout = false
    private var wasCancelled = false
    private var isOnHold = false
    private var lastNumber = 0

    /// The parts of a unit. Divisible by all numbers up to 16 and by 1000, so common fractions come out exactly.
    static let resolution: Int64 = 18_018_000

    private struct Child {
        let progress: Progress
        let units: Int64
        let number: Int
        /// Key-value observing, on Apple's systems.
        let observation: AnyObject?
        var parts: Int64 = 0
    }

    init() { super.init(parent: nil, userInfo: nil) }

    deinit { if !(self is QueueProgress) { ProgressTree.isGone(ObjectIdentifier(self)) } }

    /// Runs a critical section. No code of the user's is called inside, and nothing of the user's released.
    final func withLock<Result>(_ body: () -> Result) -> Result { ProgressTree.withLock(body) }

    // MARK: - Children

    /// Takes a child in, explicit or implicit: Foundation, too, adds every child by this member.
    override func addChild(_ child: Progress, withPendingUnitCount units: Int64) {
        // One that is made inside of Foundation's `init` has no units yet. Any other may have children already.
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
        ProgressTree.change(self) {
            let isPushed = ProgressTree.adopt(child, by: self, isNew: isNew)
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
        if beginsLookout { ProgressLookout.begin(for: self) }
        if isCancelled { child.cancel() }
        if isPaused { tellHold(child) }
    }

    /// Takes in what a child has done. O(1). Under the lock.
    final func takeIn(_ id: ObjectIdentifier) {
        guard let child = children[id] else { return }
        // Not `isFinished`, which the user may have overridden.
        let fraction = Self.fraction(of: child.progress)
        let done = Double(child.units) * Double(Self.resolution) * fraction
        let new = fraction == 1 ? 0 : Int64(exactly: done.rounded()) ?? 0
        parts = parts.addingReportingOverflow(new.subtractingReportingOverflow(child.parts).partialValue).partialValue
        children[id]?.parts = new
        guard fraction == 1 else { return }
        children[id] = nil
        silent.remove(id)
        ProgressTree.release(child.progress)
        if let observation = child.observation { ProgressTree.release(observation) }
        settle(child.units)
    }

    /// Takes in what the children have done whose changes are not pushed. O(those). Under the lock.
    final func takeInSilent() { for id in silent { takeIn(id) } }

    /// The units of a child that is finished are its own from now on. Under the lock.
    func settle(_ units: Int64) {}

    /// Whether there is nothing to look for any more.
    final func endsLookout() -> Bool {
        withLock {
            hasLookout = !silent.isEmpty
            return !hasLookout
        }
    }

    /// The units of this progress that children have done so far, in parts of `resolution` a unit. Under the lock.
    ///
    /// A child of a subclass that another thread is updating at this moment is read without a lock, for it has none. It may
    /// be read as halfway between two values; the next look puts that right.
    final func partsOfChildren(resolution: Int64) -> Int64 {
        if resolution == Self.resolution { return parts }
        return Int64(exactly: (Double(parts) / Double(Self.resolution) * Double(resolution)).rounded()) ?? 0
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
        ProgressTree.change(self) {}
    }

    override func pause() {
        let children = mark(\.isOnHold, true)
        super.pause()
        for child in children { tellHold(child) }
        ProgressTree.change(self) {}
    }

    override func resume() {
        let children = mark(\.isOnHold, false)
        super.resume()
        for child in children { tellHold(child) }
        ProgressTree.change(self) {}
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
            return children.values.sorted { $0.number < $1.number }.map(\.progress)
        }
    }
}
