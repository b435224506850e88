/// A weak reference that shows whether an object is deallocated.
package struct Weak {
    private weak var object: AnyObject?

    package init(_ object: AnyObject?) { self.object = object }

    package var isGone: Bool { object == nil }

    /// Suspends until the object is deallocated, because the last thread that used the object may hold it a moment longer. An
    /// object that is never deallocated makes the test exceed its time limit.
    package func goes() async { while !isGone, !Task.isCancelled { await Task.yield() } }
}
