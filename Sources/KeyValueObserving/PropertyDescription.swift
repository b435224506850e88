/// What an observation has to know of the property it observes: constants, shared by all observations of it.
final class PropertyDescription: @unchecked Sendable {
    // Sendable: constants, and a closure over constants.
    let key: PropertyKey
    /// Which of the properties numbered by the object's own class; see `KeyValueKey.tag`.
    let tag: UInt16
    /// The names of the properties, or paths of names, whose changes may change this one.
    let affectedBy: Set<String>
    /// The key path of a property that no class has registered, if the object's classes may announce it by another one:
    /// `\Sub.x` and `\Base.x` are different key paths of one property.
    let unregisteredPath: AnyKeyPath?
    /// The present value, as an `Any` that holds the property's own type; nil when it cannot be read.
    let read: (AnyObject) -> Any?

    init(
        _ key: PropertyKey, tag: UInt16 = 0, affectedBy: Set<String> = [], unregisteredPath: AnyKeyPath? = nil,
        read: @escaping (AnyObject) -> Any? = { _ in nil }
    ) {
        self.key = key
        self.tag = tag
        self.affectedBy = affectedBy
        self.unregisteredPath = unregisteredPath
        self.read = read
    }

    /// Whether a change of another property may be one of this one.
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
    /// The last of the properties that a key path goes through.
    convenience init(nested components: [KeyValueKey]) {
        self.init(.name(components.map(\.name).joined(separator: "."))) { object in
            var object = object
            for component in components.dropLast() {
                guard let child = component.child(of: object) else { return nil }
                object = child
            }
            return components.last?.read(object)
        }
    }
}
