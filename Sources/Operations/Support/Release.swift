/// The release of chains of any length without recursion.
///
/// The last reference to an operation releases its dependencies and the captures of its closures, whose last references
/// release theirs. By the runtime alone, a chain of a million operations would overflow the stack (rules D8, A11). Here
/// the first `deinit` on a thread releases in a loop the objects that nested ones pass to it.
enum Release {
    /// Releases the objects in `context.releases`, unless an outer call on this thread does.
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

    /// Adds a closure that an operation has not called, or another object that may have captured operations. The caller
    /// keeps no reference, because that would be the last one and would release recursively.
    static func add(_ captured: Any) { ThreadContext.current.captures.append(captured) }
}
