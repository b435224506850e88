/// Sees whether an object is still there without keeping it.
package struct Weak {
    private weak var object: AnyObject?

    package init(_ object: AnyObject?) { self.object = object }

    package var isGone: Bool { object == nil }
}
