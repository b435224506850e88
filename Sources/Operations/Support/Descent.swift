import OperationsPrimitives
import SchedulerCore

/// Steps from an operation to others, any number of levels deep, when each step calls code that makes the next step. Examples
/// are the children of nested groups, and operations that decline an offer of resources one after the other.
///
/// The first levels run at once: they are complete when the caller continues. Deeper steps wait until the outermost step
/// has returned, and then run on the same thread. So no depth overflows the stack (rule A11).
enum Descent {
    /// The number of levels that run at once.
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
