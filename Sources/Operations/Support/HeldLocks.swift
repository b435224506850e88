/// Debug builds count the locks a thread holds, to keep the house rule: never two, and none while calling out.
package enum HeldLocks {
    @inline(__always)
    package static func willLock() {
        #if DEBUG
        let context = ThreadContext.current
        guard context.heldLocks == 0 else { fatalError("a second lock is taken while one is held") }
        context.heldLocks += 1
        #endif
    }

    @inline(__always)
    package static func didUnlock() {
        #if DEBUG
        ThreadContext.current.heldLocks -= 1
        #endif
    }

    /// Stands in front of every call to code that is not ours.
    @inline(__always)
    package static func assertNone() {
        #if DEBUG
        guard ThreadContext.current.heldLocks == 0 else { fatalError("called out while a lock is held") }
        #endif
    }
}
