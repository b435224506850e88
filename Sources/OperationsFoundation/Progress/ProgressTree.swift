import Foundation
@_spi(Hosting) import KeyValueObserving
import Synchronization

/// What passes a change of one progress on to those above it, at once (rules A7 and G5).
///
/// Foundation keeps its tree to itself: a child writes into its ancestors, and no member that a subclass could override is
/// called for that. So a progress that has to report its changes gets another class, as key-value observing does on Apple's
/// systems: `Pushed.Progress`, whose setters come here. It has the memory of a plain `Progress`, and nothing but members that
/// can be overridden. Objects of a subclass keep their class.
enum ProgressTree {
    /// The one lock of all progresses known here. One for all, because a change goes up the whole tree under it. Recursive,
    /// because Foundation calls overridden members in the midst of its own.
    private static let lock = NSRecursiveLock()
    nonisolated(unsafe) private static var state = State()

    private struct State {
        /// How many sections the thread with the lock is in.
        var depth = 0
        /// What the outermost section reports when it has ended.
        var news = News()
        /// Those of progresses that are neither the system's own nor of a subclass.
        var links: [ObjectIdentifier: ProgressLink] = [:]
        /// Those of them that were observed, whose parents and children need not be known here.
        var observed: [ObjectIdentifier: ProgressLink] = [:]
    }

    /// What is done without the lock.
    private struct News {
        var changes: [(link: ProgressLink, progress: Progress, key: PropertyKey)] = []
        var watchers: [AsyncStream<Void>.Continuation] = []
        /// Released without the lock: the last reference may run code of the user's.
        var gone: [AnyObject] = []
    }

    /// Runs a critical section. No code of the user's is called inside, and nothing of the user's is released.
    static func withLock<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        state.depth += 1
        let result = body()
        state.depth -= 1
        var news = News()
        if state.depth == 0 { swap(&news, &state.news) }
        lock.unlock()
        for watcher in news.watchers { watcher.yield() }
        for (link, progress, key) in news.changes { link.tell(key, of: progress) }
        return result
    }

    /// Makes a change of a progress, and reports what it changes there and above.
    static func change(_ progress: Progress, _ body: () -> Void) {
        withLock {
            body()
            var next: Progress? = progress
            var below: Progress?
            while let current = next {
                release(current)
                if let below { (current as? ContainedProgress)?.takeIn(ObjectIdentifier(below)) }
                (current as? QueueProgress)?.copyDown()
                if let link = link(of: current) { note(link, current) }
                below = current
                next = parent(of: current)
                if next == nil, (current as? QueueProgress)?.mayHaveForeignParent == true { noteObserved() }
            }
        }
    }

    /// Foundation has written into progresses that are not known to be above the one that has changed.
    private static func noteObserved() {
        for link in state.observed.values {
            guard let progress = link.progress else { continue }
            release(progress)
            note(link, progress)
        }
    }

    /// Releases an object when the lock is released. Under the lock.
    static func release(_ object: AnyObject) { state.news.gone.append(object) }

    private static func note(_ link: ProgressLink, _ progress: Progress) {
        let keys = link.note(progress)
        guard let keys else { return }
        for key in keys { state.news.changes.append((link, progress, key)) }
        if let queue = progress as? QueueProgress { state.news.watchers += queue.watchers.values }
    }

    // MARK: - Who is above whom

    /// Notes that a progress is above another one. False: that one's changes cannot be had.
    static func adopt(_ child: Progress, by parent: Progress) -> Bool {
        withLock {
            if let child = child as? ContainedProgress {
                child.parent = parent
                return true
            }
            guard let link = ownLink(of: child) else { return false }
            link.parent = parent
            return true
        }
    }

    private static func parent(of progress: Progress) -> Progress? {
        if let progress = progress as? ContainedProgress { return progress.parent }
        return state.links[ObjectIdentifier(progress)]?.parent
    }

    private static func link(of progress: Progress) -> ProgressLink? {
        if let queue = progress as? QueueProgress { return queue.link }
        return state.links[ObjectIdentifier(progress)]
    }

    /// What is kept beside a progress. nil: it is of a subclass, and its changes cannot be had.
    static func ownLink(of progress: Progress) -> ProgressLink? {
        withLock {
            if let queue = progress as? QueueProgress { return queue.link }
            let id = ObjectIdentifier(progress)
            if let known = state.links[id] { return known }
            guard progress is ContainedProgress || Pushed.take(progress) else { return nil }
            let new = ProgressLink(progress)
            state.links[id] = new
            return new
        }
    }

    static func isObserved(_ link: ProgressLink, _ progress: Progress) {
        withLock { if !(progress is ContainedProgress) { state.observed[ObjectIdentifier(progress)] = link } }
    }

    /// The last thing a progress does.
    static func isGone(_ progress: ObjectIdentifier) {
        let link = withLock {
            state.observed[progress] = nil
            return state.links.removeValue(forKey: progress)
        }
        _ = consume link
    }

    /// How many progresses something is kept for.
    static var count: Int { withLock { max(state.links.count, state.observed.count) } }
}

/// A plain progress whose changes are reported.
enum Pushed {
    /// Called `Progress` too, for that is what its description says.
    final class Progress: Foundation.Progress, @unchecked Sendable {
        // Sendable: no properties, for its objects were made as ones of the superclass.

        deinit { ProgressTree.isGone(ObjectIdentifier(self)) }

        override var totalUnitCount: Int64 {
            get { ProgressTree.withLock { super.totalUnitCount } }
            set { ProgressTree.change(self) { super.totalUnitCount = newValue } }
        }

        override var completedUnitCount: Int64 {
            get { ProgressTree.withLock { super.completedUnitCount } }
            set { ProgressTree.change(self) { super.completedUnitCount = newValue } }
        }

        override func resignCurrent() { ProgressTree.change(self) { super.resignCurrent() } }

        override func addChild(_ child: Foundation.Progress, withPendingUnitCount units: Int64) {
            // In Foundation's tree, too. It would cancel the child, which runs code of the user's.
            if isCancelled || isPaused {
                super.addChild(child, withPendingUnitCount: units)
            } else {
                ProgressTree.withLock { super.addChild(child, withPendingUnitCount: units) }
            }
            _ = ProgressTree.adopt(child, by: self)
            ProgressTree.change(self) {}
        }

        override func cancel() {
            super.cancel()
            ProgressTree.change(self) {}
        }

        override func pause() {
            super.pause()
            ProgressTree.change(self) {}
        }

        override func resume() {
            super.resume()
            ProgressTree.change(self) {}
        }
    }

    /// Makes an object of the class `Progress` one of `Pushed.Progress`. False: it is of another class.
    static func take(_ progress: Foundation.Progress) -> Bool {
        #if canImport(ObjectiveC)
        // Key-value observing does this there.
        return false
        #else
        if type(of: progress) == Pushed.Progress.self { return true }
        guard type(of: progress) == Foundation.Progress.self else { return false }
        // The first word of an object is its class. Other threads read it at any time.
        let word = Unmanaged.passUnretained(progress).toOpaque().assumingMemoryBound(to: Atomic<UInt>.self)
        let old = UInt(bitPattern: unsafeBitCast(Foundation.Progress.self, to: UnsafeRawPointer.self))
        let new = UInt(bitPattern: unsafeBitCast(Pushed.Progress.self, to: UnsafeRawPointer.self))
        return word.pointee.compareExchange(expected: old, desired: new, ordering: .acquiringAndReleasing).exchanged
        #endif
    }
}
