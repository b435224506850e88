/// The primitives that each thread uses, counted in debug builds. `PrimitivesTests` compares the counts with the figures of
/// the article "Architecture".
package enum Primitives {
    package struct Counts: Equatable, Sendable {
        /// Takings of a lock that may block.
        package var locks = 0
        /// Exchanges of an atomic word, failed attempts included. A spin lock is one; a reference count is none.
        package var exchanges = 0

        package static func - (a: Counts, b: Counts) -> Counts {
            Counts(locks: a.locks - b.locks, exchanges: a.exchanges - b.exchanges)
        }
    }

    @inlinable @inline(__always)
    static func noteLock() {
        #if DEBUG
        count(locks: 1)
        #endif
    }

    @inline(__always)
    static func noteExchange() {
        #if DEBUG
        count(exchanges: 1)
        #endif
    }

    #if DEBUG
    @usableFromInline
    static func count(locks: Int = 0, exchanges: Int = 0) {
        let context = ThreadContext.current
        context.primitives.locks += locks
        context.primitives.exchanges += exchanges
    }

    /// The counts of this thread.
    package static var ofThisThread: Counts { ThreadContext.current.primitives }
    #endif
}
