/// Releases chains of any length without recursion.
///
/// The last reference to an operation lets go of its dependencies, whose last references let go of theirs: left to the
/// runtime, a chain of a million overflows the stack (rule D8). Here the first `deinit` on a thread releases in a loop
/// what the nested ones hand over.
enum Release {
    /// Empties `operations`: a copy that the caller kept would be the last reference, and be released by recursion.
    static func later(_ operations: inout [Operation]) {
        guard !operations.isEmpty else { return }
        let context = ThreadContext.current
        context.releases.append(contentsOf: operations)
        operations = []
        guard !context.isReleasing else { return }
        context.isReleasing = true
        while let operation = context.releases.popLast() { _ = consume operation }
        context.isReleasing = false
    }
}
