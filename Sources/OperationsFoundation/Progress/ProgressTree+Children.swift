import Foundation

// The parents and children of progresses, as far as they are known here.

extension ProgressTree {
    /// Records the parent of a progress that has none, and begins to report the changes of all descendants of the child.
    ///
    /// - Parameter isNew: Whether the child is being created: it has no children, and no other thread is changing it.
    /// - Returns: False if the child is of a subclass, so that a lookout has to find its changes; nil if the child is an ancestor
    ///   of the parent, or the parent itself, and was not adopted.
    static func adopt(_ child: Progress, by parent: Progress, isNew: Bool = false) -> Bool? {
        withLock {
            if let child = child as? ContainedProgress {
                if closesCircle(child, below: parent) { return nil }
                child.parent = child.parent ?? parent
                return true
            }
            let wasKnown = link(of: child) != nil
            if wasKnown, closesCircle(child, below: parent) { return nil }
            guard let link = ownLink(of: child, isNew: isNew) else { return false }
            link.parent = link.parent ?? parent
            if !wasKnown, !isNew { adoptDescendants(of: child) }
            return true
        }
    }

    /// Whether a child is its future parent, or an ancestor of it. O(1) for a child that has no children, else O(depth of the
    /// parent). Called under the lock.
    private static func closesCircle(_ child: Progress, below parent: Progress) -> Bool {
        if child === parent { return true }
        if let child = child as? ContainedProgress, !child.hasChildren { return false }
        return isAbove(child, parent)
    }

    /// Forgets the parent of a child that has finished, so that another parent may adopt it. Called under the lock.
    static func abandon(_ child: Progress, by parent: Progress) {
        if let child = child as? ContainedProgress {
            if child.parent === parent { child.parent = nil }
        } else if let link = link(of: child), link.parent === parent {
            link.parent = nil
        }
    }

    /// Adopts the descendants that plain progresses received before their changes were reported. Called under the lock.
    private static func adoptDescendants(of progress: Progress) {
        var rest = [progress]
        while let next = rest.popLast() {
            for child in next.presentChildren() ?? [] {
                release(child)
                let wasKnown = link(of: child) != nil
                // Foundation's tree may have a circle.
                if wasKnown || child is ContainedProgress, closesCircle(child, below: next) { continue }
                if let contained = child as? ContainedProgress {
                    contained.parent = next
                } else if let link = ownLink(of: child) {
                    link.parent = next
                    if !wasKnown { rest.append(child) }
                }
            }
        }
    }

    /// Looks for unreported changes of a plain progress.
    ///
    /// They are a change that began before the progress received its new class, and the changes of children of a subclass.
    ///
    /// - Returns: When to look again: soon, later (because another thread may still be making such a change), or not at all.
    static func look(at progress: Progress) -> NextLook {
        var next = NextLook.none
        change(progress) {
            adoptDescendants(of: progress)
            guard let children = progress.presentChildren() else { return next = .soon }
            children.forEach(release)
            if children.contains(where: { !($0 is ContainedProgress) && type(of: $0) != Pushed.Progress.self }) {
                next = .soon
            } else if !children.isEmpty || progress.fractionCompleted < 1 {
                next = .later
            }
        }
        return next
    }

    enum NextLook { case none, soon, later }

    /// Whether the calling lookout is still the current lookout of this progress.
    static func continues(_ number: Int, at progress: Progress) -> Bool {
        withLock { link(of: progress)?.lookout == number }
    }

    /// Returns the link of a progress whose observers are needed; nil for a subclass.
    static func observedLink(of progress: Progress) -> ProgressLink? {
        withLock {
            let wasKnown = link(of: progress) != nil
            let link = ownLink(of: progress)
            if !wasKnown, link != nil, !(progress is ContainedProgress) { adoptDescendants(of: progress) }
            return link
        }
    }

    /// Whether a plain progress is running `cancel()`, `pause()` or `resume()`, which call user code.
    static func isSteered(_ progress: Progress) -> Bool {
        withLock { link(of: progress)?.steering ?? 0 > 0 } || progress.isCancelled
            || progress.isPaused
    }

    /// Cancels, pauses or resumes a plain progress, and reports the effects.
    static func steer(_ progress: Progress, _ body: () -> Void) {
        withLock { link(of: progress)?.steering += 1 }
        body()
        change(progress) { link(of: progress)?.steering -= 1 }
    }
}
