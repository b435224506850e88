/// The registered keys of a class. Each class has one table, which is made at its first use.
final class KeyTable: @unchecked Sendable {
    // Sendable: constants, and a dictionary with a lock of its own.
    let keys: [KeyValueKey]
    private let type: any KeyValueObservable.Type
    /// Whether the class can override a registered property. Otherwise no search is needed.
    private let mayOverride: Bool
    private let byName: [String: KeyValueKey]
    private let byPath: [AnyKeyPath: KeyValueKey]
    /// The results of searches for nested key paths; nil for key paths that are not registered.
    private let nested = SharedDictionary<AnyKeyPath, [KeyValueKey]?>(limit: 1000)
    /// The registered properties that key paths of overrides mean; nil for key paths that mean none.
    private let overridden = SharedDictionary<AnyKeyPath, KeyValueKey?>(limit: 1000)

    private init(_ keys: [KeyValueKey], of type: any KeyValueObservable.Type) {
        self.keys = keys
        self.type = type
        mayOverride = !keys.isEmpty && _getSuperclass(type) != nil
        var byName: [String: KeyValueKey] = [:]
        var byPath: [AnyKeyPath: KeyValueKey] = [:]
        for key in keys {
            for name in [key.name] + key.aliases { byName[name] = key }
            byPath[key.path] = key
        }
        self.byName = byName
        self.byPath = byPath
    }

    func key(named name: String) -> KeyValueKey? { byName[name] }

    /// Returns the property that a key path means, also if the class overrides the property and is final.
    func key(at path: AnyKeyPath) -> KeyValueKey? {
        if let key = byPath[path] { return key }
        guard mayOverride else { return nil }
        if let known = overridden.value(for: path) { return known }
        return overridden.insert(OverriddenProperty.key(at: path, among: keys, of: type), for: path)
    }

    func names(ofType type: any Any.Type) -> Set<String> {
        Set(keys.lazy.filter { $0.valueType == type }.map(\.name))
    }

    /// Returns the canonical name of a property that has several names.
    func canonical(_ name: String) -> PropertyKey { .name(byName[name]?.name ?? name) }

    /// Returns the properties on a nested key path, from the first object to the last; nil unless all of them are registered.
    func components(of path: AnyKeyPath) -> [KeyValueKey]? {
        if let known = nested.value(for: path) { return known }
        let (keys, attempts) = NestedPathSearch.run(for: path, in: self)
        // A search without attempts is fast. Key paths with subscripts are many, so that they must not fill the memory.
        return attempts > 0 ? nested.insert(keys, for: path) : keys
    }

    // MARK: - Table of a class

    static func of(_ type: any KeyValueObservable.Type) -> KeyTable {
        let id = ObjectIdentifier(type)
        if let known = tables.value(for: id) { return known }
        let keys = type.keyValueKeys
        // Without this check, `read` would use the memory of another class as the property.
        for key in keys where !key.isProperty(type) {
            fatalError(
                "\(type) registers the key '\(key.name)' with a key path of \(key.rootType), which is another class; "
                    + "use a key path of \(type) in keyValueKeys")
        }
        return tables.insert(KeyTable(keys, of: type), for: id)
    }

    /// The tables of all classes.
    private static let tables = SharedDictionary<ObjectIdentifier, KeyTable>(limit: .max)
}
