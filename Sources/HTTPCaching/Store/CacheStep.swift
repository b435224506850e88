#if Networking

/// What storing a body consists of, in this order. A crash between any two leaves the cache usable; tests crash there.
package enum CacheStep: String, CaseIterable, Sendable {
    case temporaryFileMade
    case bodyWritten
    /// The index is locked, for other processes too, until `committed`.
    case transactionBegun
    case bodyRenamed
    case entryWritten
    case bodiesRemoved
    case committed
}

/// Called after each step. Throws in place of a file operation that fails, or ends the process.
package typealias CacheStepHook = @Sendable (CacheStep) throws -> Void
#endif
