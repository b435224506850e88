/// An observation by key path.
class TypedObservation<Object: AnyObject, Value>: Observation, @unchecked Sendable {
    // Sendable: constants.
    private let path: KeyPath<Object, Value>
    private let handler: @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void

    init(
        _ key: PropertyKey, _ path: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions,
        affectedBy: Set<String>, handler: @escaping @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        self.path = path
        self.handler = handler
        super.init(key, options: options, affectedBy: affectedBy)
    }

    override func read(_ object: AnyObject) -> Any? { unsafeDowncast(object, to: Object.self)[keyPath: path] }

    override func tell(_ object: AnyObject, _ change: Change) {
        handler(unsafeDowncast(object, to: Object.self), NSKeyValueObservedChange(change, for: options))
    }
}

/// An observation by a key path that nobody has registered: of a property of the user's own, or of an override.
///
/// In a final class, and for a `final` override, the key path of a property means the override alone and equals no other.
/// So a change of a registered property of the same type may be one of this property. Whether it is, the value tells:
/// such a change is passed on if the value differs from the one known last.
final class OverrideObservation<Object: AnyObject, Value>: TypedObservation<Object, Value>, @unchecked Sendable {
    // Sendable: `last` is set before it is registered, and then reached by the one thread whose turn it is to tell.
    private var last: Any?

    init(
        _ path: KeyPath<Object, Value>, _ options: NSKeyValueObservingOptions, in table: KeyTable,
        handler: @escaping @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        super.init(.path(path), path, options, affectedBy: table.names(ofType: Value.self), handler: handler)
    }

    override var needsNew: Bool { !affectedBy.isEmpty || super.needsNew }

    override func willStart(on object: AnyObject) { if !affectedBy.isEmpty { last = read(object) } }

    override func filtered(_ change: Change) -> Change? {
        // Nobody can tell beforehand.
        if change.isPrior { return change.isIndirect ? nil : change }
        defer { last = change.new }
        guard change.isIndirect, !affectedBy.isEmpty else { return change }
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

/// An observation by a key path that goes through several objects.
final class TypedPathObservation<Object: AnyObject, Value>: Observation, @unchecked Sendable {
    // Sendable: constants.
    private let components: [KeyValueKey]
    private let handler: @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void

    init(
        _ components: [KeyValueKey], _ options: NSKeyValueObservingOptions,
        handler: @escaping @Sendable (Object, NSKeyValueObservedChange<Value>) -> Void
    ) {
        self.components = components
        self.handler = handler
        super.init(.name(components.map(\.name).joined(separator: ".")), options: options)
    }

    override func read(_ object: AnyObject) -> Any? {
        var object = object
        for component in components.dropLast() {
            guard let child = component.child(of: object) else { return nil }
            object = child
        }
        return components.last?.read(object)
    }

    override func tell(_ object: AnyObject, _ change: Change) {
        handler(unsafeDowncast(object, to: Object.self), NSKeyValueObservedChange(change, for: options))
    }
}
