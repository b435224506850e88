/// Sees whether an object is still there without keeping it.
struct Weak<Object: AnyObject> {
    private weak var object: Object?

    init(_ object: Object) { self.object = object }

    var isGone: Bool { object == nil }
}
