/// Releases chains of any length without recursion.
///
/// The last reference to an operation releases its dependencies, and what its closures have captured, whose last references
/// release theirs: left to the runtime, a chain of a million overflows the stack (rules D8, A11). Here the first `deinit` on
/// a thread releases in a loop what the nested ones hand over.
enum Release {
    /// Releases what has been put into `context.releases`, unless the loop that does so is under way.
    static func run(in context: ThreadContext) {
        guard !context.isReleasing, !(context.releases.isEmpty && context.captures.isEmpty) else { return }
        context.isReleasing = true
        while true {
            if let operation = context.releases.popLast() {
                _ = consume operation
            } else if let captured = context.captures.popLast() {
                _ = consume captured
            } else {
                break
            }
        }
        context.isReleasing = false
    }

    /// Puts a closure that an operation has not called, or something else that may have captured operations, to what `run`
    /// releases. The caller keeps no reference, or it would be the last one and release by recursion after all.
    static func add(_ captured: Any) { ThreadContext.current.captures.append(captured) }
}
