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
    }

    /// What is done without the lock.
    private struct News {
        var changes: [(link: ProgressLink, progress: Progress, key: PropertyKey)] = []
        var watchers: [AsyncStream<Void>.Continuation] = []
        /// Released without the lock: the last reference may run code of the user's.
        var gone: [AnyObject] = []
        var lookouts: [(progress: Progress, number: Int)] = []
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
        for (progress, number) in news.lookouts { ProgressLookout.begin(for: progress, number) }
        for watcher in news.watchers { watcher.yield() }
        for (link, progress, key) in news.changes { link.tell(key, of: progress) }
        return result
    }

    /// Makes a change of a progress, and reports what it changes there and above.
    static func change(_ progress: Progress, _ body: () -> Void) {
        withLock {
            // Those above first: one that is complete leaves the tree, and may be gone after the change.
            var above: [Progress] = []
            var next = parent(of: progress)
            while let current = next {
                above.append(current)
                next = parent(of: current)
            }
            body()
            pass(progress, below: nil)
            var below = progress
            for current in above {
                pass(current, below: below)
                below = current
            }
        }
    }

    /// Takes a change in, on its way up.
    private static func pass(_ progress: Progress, below: Progress?) {
        release(progress)
        if let below { (progress as? ContainedProgress)?.takeIn(ObjectIdentifier(below)) }
        (progress as? QueueProgress)?.copyDown()
        if let link = link(of: progress) { note(link, progress) }
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

    /// Begins to look at a progress at short intervals. Under the lock.
    static func beginLookout(for progress: Progress) {
        guard let link = link(of: progress) else { return }
        link.lookout += 1
        state.news.lookouts.append((progress, link.lookout))
    }

    private static func parent(of progress: Progress) -> Progress? {
        if let progress = progress as? ContainedProgress { return progress.parent }
        return state.links[ObjectIdentifier(progress)]?.parent
    }

    /// What is kept beside a progress so far. Under the lock.
    static func link(of progress: Progress) -> ProgressLink? {
        if let queue = progress as? QueueProgress { return queue.link }
        return state.links[ObjectIdentifier(progress)]
    }

    /// What is kept beside a progress. nil: it is of a subclass, and its changes cannot be had.
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

    /// The last thing a progress does.
    static func isGone(_ progress: ObjectIdentifier) {
        let link = withLock {
            state.links.removeValue(forKey: progress)
        }
        _ = consume link
    }

    /// How many progresses something is kept for.
    static var count: Int { withLock { state.links.count } }
}
