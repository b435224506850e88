/// An observation that calls a closure.
///
/// The types of the object and the value are known to the closures alone, which are made where the observing begins: a
/// generic class would have its metadata looked up for each observation and each change.
class HandlerObservation: Observation, @unchecked Sendable {
    // Sendable: a constant.
    private let handler: @Sendable (AnyObject, Change) -> Void

    init(
        _ property: PropertyDescription, _ options: NSKeyValueObservingOptions,
        handler: @escaping @Sendable (AnyObject, Change) -> Void
    ) {
        self.handler = handler
        super.init(property, options)
    }

    final override func tell(_ object: AnyObject, _ change: Change) { handler(object, change) }
}

/// An observation by a key path that nobody has registered: of a property of the user's own, or of an override.
///
/// In a final class, and for a `final` override, the key path of a property means the override alone and equals no other.
/// The key paths of a property differ too when they are spelled with a class and with its subclass. So a change of a
/// registered property of the same type may be one of this property, and so may one that another class of the object
/// announces by a key path. The value decides: such a change is passed on if the value differs from the one known last.
final class OverrideObservation: HandlerObservation, @unchecked Sendable {
    // Sendable: `last` is set while changes are held back, and then reached by the one thread whose turn it is to tell.
    private var last: Any?

    override var beginsHeld: Bool { dependsOnOthers || super.beginsHeld }
    override var needsNew: Bool { dependsOnOthers || super.needsNew }

    // Read before it is registered, it would be another one than the first value that the handler is told.
    override func hasBegun(on object: AnyObject) { if dependsOnOthers { last = read(object) } }

    override func pass(_ change: Change, of object: AnyObject) {
        guard isValid, let change = filtered(change) else { return }
        tell(object, change)
    }

    private func filtered(_ change: Change) -> Change? {
        // Nobody can tell beforehand.
        if change.isPrior { return change.isIndirect ? nil : change }
        defer { last = change.new }
        guard change.isIndirect, dependsOnOthers else { return change }
        guard !isEqual(last, change.new) else { return nil }
        var change = change
        change.old = last
        return change
    }

    /// Values that cannot be compared count as different.
    private func isEqual(_ a: Any?, _ b: Any?) -> Bool {
        func compare<T: Equatable>(_ a: T) -> Bool { a == b as? T }
        guard let a = a as? any Equatable else { return false }
        return compare(a)
    }
}
