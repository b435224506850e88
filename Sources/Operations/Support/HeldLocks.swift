/// Debug builds count the locks a thread holds, to keep the house rule: never two, and none while calling out.
package enum HeldLocks {
    @inlinable @inline(__always)
    package static func willLock() {
        #if DEBUG
        count(1)
        #endif
    }

    @inlinable @inline(__always)
    package static func didUnlock() {
        #if DEBUG
        count(-1)
        #endif
    }

    #if DEBUG
    @usableFromInline
    static func count(_ change: Int) {
        let context = ThreadContext.current
        guard change < 0 || context.heldLocks == 0 else { fatalError("a second lock is taken while one is held") }
        context.heldLocks += change
    }
    #endif

    /// Stands in front of every call to code that is not ours.
    @inline(__always)
    package static func assertNone() {
        #if DEBUG
        guard ThreadContext.current.heldLocks == 0 else { fatalError("called out while a lock is held") }
        #endif
    }
}
