#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The registered keys of a class. Each class has one table, which is made at its first use.
final class KeyTable: @unchecked Sendable {
    // Sendable: constants.
    let keys: [KeyValueKey]
    private let byName: [String: KeyValueKey]
    private let byPath: [AnyKeyPath: KeyValueKey]

    private init(_ keys: [KeyValueKey]) {
        self.keys = keys
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

    func key(at path: AnyKeyPath) -> KeyValueKey? { byPath[path] }

    func names(ofType type: any Any.Type) -> Set<String> {
        Set(keys.lazy.filter { $0.valueType == type }.map(\.name))
    }

    /// Returns the canonical name of a property that has several names.
    func canonical(_ name: String) -> PropertyKey { .name(byName[name]?.name ?? name) }

    /// Returns the properties on a nested key path, from the first object to the last; nil unless all of them are registered.
    func components(of path: AnyKeyPath) -> [KeyValueKey]? { components(of: path, behind: nil, depth: 0) }

    private func components(of path: AnyKeyPath, behind prefix: AnyKeyPath?, depth: Int) -> [KeyValueKey]? {
        for key in keys {
            let whole = prefix.map { $0.appending(path: key.path) } ?? key.path
            guard let whole else { continue }
            if whole == path { return [key] }
            // Classes may refer to one another in a cycle, so the depth needs a limit.
            guard let child = key.childType, depth < 5 else { continue }
            if let rest = KeyTable.of(child).components(of: path, behind: whole, depth: depth + 1) {
                return [key] + rest
            }
        }
        return nil
    }

    // MARK: - Table of a class

    static func of(_ type: any KeyValueObservable.Type) -> KeyTable {
        let id = ObjectIdentifier(type)
        if let known = tables.read({ $0[id] }) { return known }
        let keys = type.keyValueKeys
        // Without this check, `read` would use the memory of another class as the property.
        for key in keys where !key.isProperty(type) {
            fatalError(
                "\(type) registers the key '\(key.name)' with a key path of \(key.rootType), which is another class; "
                    + "use a key path of \(type) in keyValueKeys")
        }
        let table = KeyTable(keys)
        return tables.write { tables in
            if let known = tables[id] { return known }
            tables[id] = table
            return table
        }
    }

    private static let tables = Tables()

    /// The tables of all classes. Each registration reads a table, and each class writes its table once.
    private final class Tables: @unchecked Sendable {
        // Sendable: the dictionary is used only under the lock.
        private let lock = UnsafeMutablePointer<pthread_rwlock_t>.allocate(capacity: 1)
        private var tables: [ObjectIdentifier: KeyTable] = [:]

        init() {
            lock.initialize(to: pthread_rwlock_t())
            pthread_rwlock_init(lock, nil)
        }

        func read(_ body: ([ObjectIdentifier: KeyTable]) -> KeyTable?) -> KeyTable? {
            pthread_rwlock_rdlock(lock)
            defer { pthread_rwlock_unlock(lock) }
            return body(tables)
        }

        func write(_ body: (inout [ObjectIdentifier: KeyTable]) -> KeyTable) -> KeyTable {
            pthread_rwlock_wrlock(lock)
            defer { pthread_rwlock_unlock(lock) }
            return body(&tables)
        }
    }
}
