import Foundation
@_spi(Hosting) import KeyValueObserving
import Synchronization

/// The propagation of a change from one progress to its ancestors, at once.
///
/// Foundation hides its tree. A child writes into its ancestors without calling a member that a subclass could override. A
/// progress that has to report its changes therefore receives another class, as with key-value observing on Apple's systems.
/// The class is `Pushed.Progress`, and its setters call this type. It has the same memory layout as a plain `Progress`, and
/// only members that override others. Objects of a subclass keep their class.
enum ProgressTree {
    /// The single lock of all known progresses. A change propagates up the whole tree under it, so one lock serves all trees.
    /// The lock is recursive, because Foundation calls overridden members in the middle of its own members.
    private static let lock = NSRecursiveLock()
    nonisolated(unsafe) private static var state = State()

    private struct State {
        /// The nesting depth of the critical sections of the thread that holds the lock.
        var depth = 0
        /// The reports that the outermost section makes when it has ended.
        var news = News()
        /// The links of progresses whose class is `Pushed.Progress` or `OperationProgress`.
        var links: [ObjectIdentifier: ProgressLink] = [:]
    }

    /// Work that is done without the lock.
    private struct News {
        var changes: [(link: ProgressLink, progress: Progress, key: PropertyKey)] = []
        var watchers: [AsyncStream<Void>.Continuation] = []
        /// Objects to release without the lock, because the last reference may run user code.
        var gone: [AnyObject] = []
        var lookouts: [(progress: Progress, number: Int)] = []
    }

    /// Runs a critical section. The body must not call user code and must not release user objects.
    static func withLock<Result>(_ body: () -> Result) -> Result {
        lock.lock()
        state.depth += 1
        let result = body()
        state.depth -= 1
        var news = News()
        if state.depth == 0 { swap(&news, &state.news) }
        lock.unlock()
        for (progress, number) in news.lookouts { ProgressLookout.begin(for: progress, number) }
        for watcher in news.watchers { watcher.yield() }
        for (link, progress, key) in news.changes { link.notify(key, of: progress) }
        return result
    }

    /// Makes a change of a progress, and reports its effects on the progress and its ancestors.
    ///
    /// The change climbs as long as it changes the numbers of an ancestor. The time for a deep tree would otherwise grow with the
    /// square of the depth.
    static func change(_ progress: Progress, _ body: () -> Void) {
        withLock {
            // Find the ancestors first: a completed progress leaves the tree, and may be deallocated after the change.
            var above = nextAncestors(of: progress)[...]
            body()
            pass(progress)
            var below = progress
            while let current = above.popFirst() {
                if above.isEmpty { above = nextAncestors(of: current)[...] }
                guard pass(current, below: below) else { return }
                below = current
            }
        }
    }

    /// Returns the ancestors from the parent to the first `ContainedProgress`. One change in Foundation's tree may complete
    /// those before it.
    private static func nextAncestors(of progress: Progress) -> [Progress] {
        var ancestors: [Progress] = []
        var next = parent(of: progress)
        while let current = next {
            ancestors.append(current)
            next = current is ContainedProgress ? nil : parent(of: current)
        }
        return ancestors
    }

    /// Applies a change to the progress itself.
    private static func pass(_ progress: Progress) {
        release(progress)
        _ = (progress as? QueueProgress)?.copyDown()
        if let link = link(of: progress) { note(link, progress) }
    }

    /// Applies a change to an ancestor, on the way up.
    ///
    /// - Returns: False if the numbers of the ancestor stay the same. The numbers of a plain progress may have changed earlier, in
    ///   Foundation's tree.
    private static func pass(_ progress: Progress, below: Progress) -> Bool {
        var isChanged = true
        if let progress = progress as? ContainedProgress {
            isChanged = progress.takeIn(ObjectIdentifier(below))
            if let queue = progress as? QueueProgress, queue.copyDown() { isChanged = true }
        }
        if let link = link(of: progress) { note(link, progress) }
        return isChanged
    }

    /// Releases an object after the lock is released. Called under the lock.
    static func release(_ object: AnyObject) { state.news.gone.append(object) }

    private static func note(_ link: ProgressLink, _ progress: Progress) {
        let keys = link.note(progress)
        guard let keys else { return }
        for key in keys { state.news.changes.append((link, progress, key)) }
        if let watchers = (progress as? QueueProgress)?.watchers { state.news.watchers += watchers.values }
    }

    // MARK: - Parents

    /// Begins to look at a progress at short intervals. Called under the lock.
    static func beginLookout(for progress: Progress) {
        guard let link = link(of: progress) else { return }
        link.lookout += 1
        state.news.lookouts.append((progress, link.lookout))
    }

    /// Returns the parent, and releases it after the lock is released. Called under the lock.
    private static func parent(of progress: Progress) -> Progress? {
        let contained = progress as? ContainedProgress
        let parent = contained != nil ? contained?.parent : state.links[ObjectIdentifier(progress)]?.parent
        if let parent { release(parent) }
        return parent
    }

    /// Whether a progress is another one or one of its ancestors. Called under the lock.
    static func isAbove(_ progress: Progress, _ other: Progress) -> Bool {
        var next: Progress? = other
        while let current = next {
            if current === progress { return true }
            next = parent(of: current)
        }
        return false
    }

    /// Returns the existing link of a progress. Called under the lock.
    static func link(of progress: Progress) -> ProgressLink? {
        if let queue = progress as? QueueProgress { return queue.link }
        return state.links[ObjectIdentifier(progress)]
    }

    /// Returns the link of a progress, and makes it if necessary; nil for a subclass, whose changes cannot be intercepted.
    static func ownLink(of progress: Progress, isNew: Bool = false) -> ProgressLink? {
        withLock {
            if let queue = progress as? QueueProgress { return queue.link }
            let id = ObjectIdentifier(progress)
            if let known = state.links[id] { return known }
            guard progress is ContainedProgress || Pushed.take(progress) else { return nil }
            let new = ProgressLink(progress)
            state.links[id] = new
            if !isNew, !(progress is ContainedProgress) { beginLookout(for: progress) }
            return new
        }
    }

    /// Removes the link of a progress. The progress calls it in its `deinit`.
    static func isGone(_ progress: ObjectIdentifier) {
        let link = withLock {
            state.links.removeValue(forKey: progress)
        }
        _ = consume link
    }

    /// The number of progresses that have a link.
    static var count: Int { withLock { state.links.count } }
}
