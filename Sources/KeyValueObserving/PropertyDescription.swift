/// The constants of an observed property, shared by all its observations.
final class PropertyDescription: @unchecked Sendable {
    // Sendable: the properties are constants, and a closure over constants.
    let key: PropertyKey
    /// A change of the property without values. See `ChangeHandler`.
    let change: UnsafePointer<Change>
    /// The bit of a property that the object's own class has numbered; see `KeyValueKey.tag`.
    let tag: UInt16
    /// The names of the properties, or paths of names, whose changes may change this property. A path of names affects itself.
    let affectedBy: Set<String>
    /// The key path of an unregistered property, if another class of the object may announce the property by another key path.
    /// `\Sub.x` and `\Base.x` are different key paths of one property.
    let unregisteredPath: AnyKeyPath?
    /// Whether changes of other properties may change this property.
    let dependsOnOthers: Bool
    /// Reads the present value, as an `Any` that holds the property's own type; nil when the property cannot be read.
    let read: (AnyObject) -> Any?

    init(
        _ key: PropertyKey, tag: UInt16 = 0, affectedBy: Set<String> = [], unregisteredPath: AnyKeyPath? = nil,
        read: @escaping (AnyObject) -> Any? = { _ in nil }
    ) {
        self.key = key
        let change = UnsafeMutablePointer<Change>.allocate(capacity: 1)
        change.initialize(to: Change(key))
        self.change = UnsafePointer(change)
        self.tag = tag
        self.affectedBy = affectedBy
        self.unregisteredPath = unregisteredPath
        dependsOnOthers = !affectedBy.isEmpty || unregisteredPath != nil
        self.read = read
    }

    deinit {
        let change = UnsafeMutablePointer(mutating: change)
        change.deinitialize(count: 1)
        change.deallocate()
    }

    /// Whether a change of another property may be a change of this property.
    func dependsOn(_ changed: PropertyKey) -> Bool {
        switch changed {
        case .name(let name): return affectedBy.contains(name)
        case .path(let path):
            guard let own = unregisteredPath else { return false }
            return type(of: path).valueType == type(of: own).valueType
                && type(of: path).rootType != type(of: own).rootType
        }
    }
}

extension PropertyDescription {
    /// Creates a description of the last property on a key path.
    convenience init(nested components: [KeyValueKey]) {
        let path = components.map(\.name).joined(separator: ".")
        self.init(.name(path), affectedBy: [path]) { object in
            var object = object
            for component in components.dropLast() {
                guard let child = component.child(of: object) else { return nil }
                object = child
            }
            return components.last?.read(object)
        }
    }
}
