/// A closure that an observation calls. The pointer is valid during the call.
///
/// A pointer, because the compiler would copy a change that is stored, such as `PropertyDescription.change`. The copy and its
/// release take longer than the rest of the call.
@usableFromInline
typealias ChangeHandler = @Sendable (_ object: AnyObject, _ change: UnsafePointer<Change>) -> Void

/// An observation that calls a closure.
///
/// Only the handler knows the types of the object and of the value. A generic class would need a metadata lookup for each
/// observation and each change.
class HandlerObservation: Observation, @unchecked Sendable {
    // Sendable: a constant.
    private let handler: ChangeHandler

    init(
        _ property: PropertyDescription, _ options: NSKeyValueObservingOptions, handler: @escaping ChangeHandler
    ) {
        self.handler = handler
        super.init(property, options)
    }

    final override func notify(_ object: AnyObject, _ change: Change) {
        withUnsafePointer(to: change) { handler(object, $0) }
    }

    final override func notifyPlainly(_ object: AnyObject) { handler(object, property.change) }
}

/// An observation by a key path that is not registered: of an unregistered property, or of an override.
///
/// In a final class, and for a `final override`, the key path of a property identifies only the override and equals no other
/// key path. The key path that is spelled with a class also differs from the key path that is spelled with its subclass. A
/// change of a registered property of the same type may therefore be a change of this property. So may a change that another
/// class of the object announces by a key path. The value decides: the observation passes such a change on if the value differs
/// from the last known value.
final class OverrideObservation: HandlerObservation, @unchecked Sendable {
    // Sendable: no state of its own.
    override var keepsLast: Bool { dependsOnOthers }

    override func completed(_ change: Change, of object: AnyObject) -> Change? {
        guard change.isIndirect else { return super.completed(change, of: object) }
        // Before the change, the new value is unknown.
        if change.isPrior { return nil }
        var change = change
        change.old = last
        guard !isEqual(last, change.new) else { return nil }
        if options.contains(.prior) {
            var prior = change
            prior.isPrior = true
            prior.new = nil
            notify(object, prior)
        }
        return isValid ? super.completed(change, of: object) : nil
    }

    /// Compares two values. Values that cannot be compared count as different.
    private func isEqual(_ a: Any?, _ b: Any?) -> Bool {
        func compare<T: Equatable>(_ a: T) -> Bool { a == b as? T }
        guard let a = a as? any Equatable else { return false }
        return compare(a)
    }
}
