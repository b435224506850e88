// Announcing by hand: what `@KeyValueObserved` does for a stored property.
extension KeyValueObservable {
    /// Says that a property is about to change. Followed, on the same thread, by `didChangeValue(for:)`.
    public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        PendingAnnouncements.begin(Self.propertyKey(keyPath), of: self, in: keyValueObservers)
    }

    /// Says that a property has changed.
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        PendingAnnouncements.end(Self.propertyKey(keyPath), of: self, in: keyValueObservers)
    }

    /// Says that the property of this name is about to change. Followed, on the same thread, by `didChangeValue(forKey:)`.
    public func willChangeValue(forKey key: String) {
        PendingAnnouncements.begin(type(of: self).propertyKey(named: key), of: self, in: keyValueObservers)
    }

    /// Says that the property of this name has changed.
    public func didChangeValue(forKey key: String) {
        PendingAnnouncements.end(type(of: self).propertyKey(named: key), of: self, in: keyValueObservers)
    }

    /// Says that elements of an ordered collection are about to be inserted, removed or replaced at these places.
    public func willChange<Value>(
        _ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
    ) {
        PendingAnnouncements.begin(
            Self.propertyKey(keyPath), of: self, in: keyValueObservers, kind: changeKind, indexes: indexes)
    }

    /// Says that elements of an ordered collection have been inserted, removed or replaced at these places.
    public func didChange<Value>(
        _ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, for keyPath: KeyPath<Self, Value>
    ) {
        PendingAnnouncements.end(
            Self.propertyKey(keyPath), of: self, in: keyValueObservers, kind: changeKind, indexes: indexes)
    }

    /// Says that elements of the ordered collection of this name are about to change at these places.
    public func willChange(_ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String) {
        PendingAnnouncements.begin(
            type(of: self).propertyKey(named: key), of: self, in: keyValueObservers, kind: changeKind,
            indexes: indexes)
    }

    /// Says that elements of the ordered collection of this name have changed at these places.
    public func didChange(_ changeKind: NSKeyValueChange, valuesAt indexes: RangeSet<Int>, forKey key: String) {
        PendingAnnouncements.end(
            type(of: self).propertyKey(named: key), of: self, in: keyValueObservers, kind: changeKind,
            indexes: indexes)
    }

    /// Says that a set is about to change.
    public func willChangeValue<Value, Element: Hashable>(
        for keyPath: KeyPath<Self, Value>, withSetMutation mutation: NSKeyValueSetMutationKind, using set: Set<Element>
    ) {
        PendingAnnouncements.begin(
            Self.propertyKey(keyPath), of: self, in: keyValueObservers, kind: mutation.changeKind)
    }

    /// Says that a set has changed.
    public func didChangeValue<Value, Element: Hashable>(
        for keyPath: KeyPath<Self, Value>, withSetMutation mutation: NSKeyValueSetMutationKind, using set: Set<Element>
    ) {
        PendingAnnouncements.end(
            Self.propertyKey(keyPath), of: self, in: keyValueObservers, kind: mutation.changeKind)
    }

    package static func propertyKey(_ keyPath: AnyKeyPath) -> PropertyKey {
        KeyTable.of(Self.self).key(at: keyPath).map { .name($0.name) } ?? .path(keyPath)
    }

    package static func propertyKey(named name: String) -> PropertyKey { KeyTable.of(Self.self).canonical(name) }
}

extension NSKeyValueSetMutationKind {
    fileprivate var changeKind: NSKeyValueChange {
        switch self {
        case .union: .insertion
        case .minus, .intersect: .removal
        case .set: .setting
        }
    }
}
