/// Releases chains of any length without recursion.
///
/// The last reference to an operation lets go of its dependencies, whose last references let go of theirs: left to the
/// runtime, a chain of a million overflows the stack (rule D8). Here the first `deinit` on a thread releases in a loop
/// what the nested ones hand over.
enum Release {
    /// Releases what has been put into `context.releases`, unless the loop that does so is under way.
    static func run(in context: ThreadContext) {
        guard !context.isReleasing, !context.releases.isEmpty else { return }
        context.isReleasing = true
        while let operation = context.releases.popLast() { _ = consume operation }
        context.isReleasing = false
    }
}
