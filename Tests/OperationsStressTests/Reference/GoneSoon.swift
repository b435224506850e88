import TestSupport

extension [Weak] {
    /// Waits until all objects are gone, 20 seconds at most. Another thread may hold one for a moment longer: the thread that used it
    /// last, or one that explains all queues of the process. No event announces the release.
    func areGoneSoon() -> Bool {
        let end = ContinuousClock.now + .seconds(20)
        while !allSatisfy(\.isGone) {
            guard ContinuousClock.now < end else { return false }
            Pause.yield()
        }
        return true
    }
}
