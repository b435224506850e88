/// Releases chains of any length without recursion.
///
/// The last reference to an operation lets go of its dependencies, whose last references let go of theirs: left to the
/// runtime, a chain of a million overflows the stack (rule D8). Here the first `deinit` on a thread releases in a loop
/// what the nested ones hand over.
enum Release {
    static func later(_ operations: consuming [Operation]) {
        let context = ThreadContext.current
        if context.releases != nil {
            context.releases!.append(contentsOf: operations)
            return
        }
        context.releases = operations
        operations = []
        while let operation = context.releases!.popLast() { _ = consume operation }
        context.releases = nil
    }
}
