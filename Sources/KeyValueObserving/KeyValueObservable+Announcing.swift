// Announcing a change by hand, as `@KeyValueObserved` does for a stored property.
extension KeyValueObservable {
    /// Announces that a property is about to change. Call `didChangeValue(for:)` on the same thread after the change.
    public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        begin(Self.propertyKey(keyPath))
    }

    /// Announces that a property has changed.
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        end(Self.propertyKey(keyPath))
    }

    /// Announces that the property of this name is about to change. Call `didChangeValue(forKey:)` on the same thread after the
    /// change.
    public func willChangeValue(forKey key: String) {
        begin(type(of: self).propertyKey(named: key))
    }

    /// Announces that the property of this name has changed.
    public func didChangeValue(forKey key: String) {
        end(type(of: self).propertyKey(named: key))
    }

    /// Announces that elements of an ordered collection are about to be inserted, removed or replaced at these positions.
    public func willChange<Value>(
        _ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
    ) {
        begin(Self.propertyKey(keyPath), kind: changeKind, indexes: indexes)
    }

    /// Announces that elements of an ordered collection have been inserted, removed or replaced at these positions.
    public func didChange<Value>(
        _ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
    ) {
        end(Self.propertyKey(keyPath), kind: changeKind, indexes: indexes)
    }

    /// Announces that elements of the ordered collection of this name are about to change at these positions.
    public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String) {
        begin(type(of: self).propertyKey(named: key), kind: changeKind, indexes: indexes)
    }

    /// Announces that elements of the ordered collection of this name have changed at these positions.
    public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String) {
        end(type(of: self).propertyKey(named: key), kind: changeKind, indexes: indexes)
    }

    /// Announces that a set is about to change.
    public func willChangeValue<Value, Element: Hashable>(
        for keyPath: KeyPath<Self, Value>, withSetMutation mutation: NSKeyValueSetMutationKind, using set: Set<Element>
    ) {
        begin(Self.propertyKey(keyPath), kind: mutation.changeKind, mutated: mutation.applied(using: set))
    }

    /// Announces that a set has changed.
    public func didChangeValue<Value, Element: Hashable>(
        for keyPath: KeyPath<Self, Value>, withSetMutation mutation: NSKeyValueSetMutationKind, using set: Set<Element>
    ) {
        end(Self.propertyKey(keyPath), kind: mutation.changeKind)
    }

    /// Announces that the set of this name is about to change.
    public func willChangeValue<Element: Hashable>(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using set: Set<Element>
    ) {
        let property = type(of: self).propertyKey(named: key)
        begin(property, kind: mutation.changeKind, mutated: mutation.applied(using: set))
    }

    /// Announces that the set of this name has changed.
    public func didChangeValue<Element: Hashable>(
        forKey key: String, withSetMutation mutation: NSKeyValueSetMutationKind, using set: Set<Element>
    ) {
        end(type(of: self).propertyKey(named: key), kind: mutation.changeKind)
    }

    /// Announces the start of a change to the observers and to the object's own class.
    private func begin(
        _ key: PropertyKey, kind: NSKeyValueChange = .setting, indexes: RangeSet<Int>? = nil,
        mutated: ((Any) -> Any?)? = nil
    ) {
        let observers = keyValueRegistrar
        observers.willAnnounce(key.name, key.path, of: self)
        PendingAnnouncements.begin(key, of: self, in: observers, kind: kind, indexes: indexes, mutated: mutated)
    }

    private func end(_ key: PropertyKey, kind: NSKeyValueChange = .setting, indexes: RangeSet<Int>? = nil) {
        let observers = keyValueRegistrar
        PendingAnnouncements.end(key, of: self, in: observers, kind: kind, indexes: indexes)
        observers.didAnnounce(key.name, key.path, of: self)
    }

    /// Announces the start of a change in place, and returns the announcement for `endAccess`. No entry of the thread has it,
    /// because an access across `await` may end on another thread.
    func beginAccess(_ key: PropertyKey) -> Announcement {
        let observers = keyValueRegistrar
        observers.willAnnounce(key.name, key.path, of: self)
        return observers.willChange([key], of: self)
    }

    /// Announces the end of a change in place.
    func endAccess(_ key: PropertyKey, _ announcement: Announcement) {
        let observers = keyValueRegistrar
        observers.didChange(announcement, of: self)
        observers.didAnnounce(key.name, key.path, of: self)
    }

    package static func propertyKey(_ keyPath: AnyKeyPath) -> PropertyKey {
        KeyTable.of(Self.self).key(at: keyPath).map { .name($0.name) } ?? .path(keyPath)
    }

    package static func propertyKey(named name: String) -> PropertyKey { KeyTable.of(Self.self).canonical(name) }

    /// Whether the class has registered a property of this name.
    package static func isRegistered(_ name: String) -> Bool { KeyTable.of(Self.self).key(named: name) != nil }
}

extension NSKeyValueSetMutationKind {
    fileprivate var changeKind: NSKeyValueChange {
        switch self {
        case .union: .insertion
        case .minus, .intersect: .removal
        case .set: .replacement
        }
    }

    /// Returns a function that returns a set after the mutation.
    fileprivate func applied<Element: Hashable>(using other: Set<Element>) -> (Any) -> Any? {
        { value in
            guard let set = value as? Set<Element> else { return nil }
            return switch self {
            case .union: set.union(other)
            case .minus: set.subtracting(other)
            case .intersect: set.intersection(other)
            case .set: other
            }
        }
    }
}
