import SchedulerCore

/// Steps from an operation to others that may be any number of levels deep, such as from a group to its children, when each
/// step calls code that takes the next one.
///
/// Some levels are taken at once: all of it has happened when the caller goes on. What is deeper waits until the
/// outermost step has returned, and is taken then, on the same thread. So no depth overflows the stack (rule A11).
enum Descent {
    /// The number of levels that are taken at once.
    static let limit = 32

    static func step(_ body: @escaping () -> Void) {
        let context = ThreadContext.current
        guard context.descent < limit else { return context.deeperSteps.append(body) }
        context.descent += 1
        body()
        if context.descent == 1 { while let next = context.deeperSteps.popFirst() { next() } }
        context.descent -= 1
    }
}
