/// Sees whether an object is still there without keeping it.
package struct Weak {
    private weak var object: AnyObject?

    package init(_ object: AnyObject?) { self.object = object }

    package var isGone: Bool { object == nil }

    /// Suspends until it is gone: the thread that used it last may hold it for a moment more. What never goes is waited for
    /// until the test's time limit.
    package func goes() async { while !isGone, !Task.isCancelled { await Task.yield() } }
}
