/// The steps of storing a body, in order. A crash between two steps leaves the cache usable, and tests crash there.
package enum CacheStep: String, CaseIterable, Sendable {
    case temporaryFileMade
    case bodyWritten
    /// The transaction locks the index for all processes until `committed`.
    case transactionBegun
    case bodyRenamed
    case entryWritten
    case bodiesRemoved
    case committed
}

/// A hook that runs after each step. A test hook throws to simulate a failed file operation, or ends the process.
package typealias CacheStepHook = @Sendable (CacheStep) throws -> Void
