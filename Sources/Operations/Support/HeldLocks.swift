/// A count of the locks that a thread holds, in debug builds. It enforces two rules: a thread holds at most one lock, and
/// calls foreign code without a lock.
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
        guard change < 0 || context.heldLocks == 0 else { fatalError("a second lock is taken while a lock is held") }
        context.heldLocks += change
    }
    #endif

    /// Checks that this thread holds no lock. Precedes every call of foreign code.
    @inline(__always)
    package static func assertNone() {
        #if DEBUG
        guard ThreadContext.current.heldLocks == 0 else { fatalError("foreign code is called while a lock is held") }
        #endif
    }
}
