import Foundation

// Which progress is above which, as far as that is known here.

extension ProgressTree {
    /// Notes that a progress is above another one, and reports the changes of all that is below that one.
    ///
    /// - Parameter isNew: The child is made at this moment: it has no children, and no thread is changing it.
    /// - Returns: False: the child is of a subclass, and its changes have to be looked for.
    @discardableResult
    static func adopt(_ child: Progress, by parent: Progress, isNew: Bool = false) -> Bool {
        withLock {
            if let child = child as? ContainedProgress {
                child.parent = parent
                return true
            }
            let wasKnown = link(of: child) != nil
            guard let link = ownLink(of: child, isNew: isNew) else { return false }
            link.parent = parent
            if !wasKnown, !isNew { adoptDescendants(of: child) }
            return true
        }
    }

    /// Adopts the children that plain progresses were given before their changes were reported, at any depth. Under the lock.
    private static func adoptDescendants(of progress: Progress) {
        var rest = [progress]
        while let next = rest.popLast() {
            for child in next.presentChildren() ?? [] {
                release(child)
                let wasKnown = link(of: child) != nil
                if let contained = child as? ContainedProgress {
                    contained.parent = next
                } else if let link = ownLink(of: child) {
                    link.parent = next
                    if !wasKnown { rest.append(child) }
                }
            }
        }
    }

    /// Looks for the changes of a plain progress that were not reported: a change that began before the progress got its
    /// class, and the changes of children of a subclass.
    ///
    /// - Returns: Whether a look is needed again: seldom, because a thread may still be in such a change, or soon.
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

    /// Whether the calling look is still the one that looks at this progress.
    static func continues(_ number: Int, at progress: Progress) -> Bool {
        withLock { link(of: progress)?.lookout == number }
    }

    /// What is kept beside a progress whose observers are asked for. nil: it is of a subclass.
    static func observedLink(of progress: Progress) -> ProgressLink? {
        withLock {
            let wasKnown = link(of: progress) != nil
            let link = ownLink(of: progress)
            if !wasKnown, link != nil, !(progress is ContainedProgress) { adoptDescendants(of: progress) }
            return link
        }
    }

    /// Whether `cancel()`, `pause()` or `resume()` of a plain progress is under way, which call code of the user's.
    static func isSteered(_ progress: Progress) -> Bool {
        withLock { link(of: progress)?.steering ?? 0 > 0 } || progress.isCancelled
            || progress.isPaused
    }

    /// Cancels, pauses or resumes a plain progress, and reports what that changes.
    static func steer(_ progress: Progress, _ body: () -> Void) {
        withLock { link(of: progress)?.steering += 1 }
        body()
        change(progress) { link(of: progress)?.steering -= 1 }
    }
}
