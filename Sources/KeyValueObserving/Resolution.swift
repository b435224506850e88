/// What a key path means for a class. Found once for each pair, and then looked up by identity.
final class Resolution: @unchecked Sendable {
    // Sendable: constants.
    let meaning: Meaning

    enum Meaning {
        case property(Property)
        /// A path through several objects.
        case nested([KeyValueKey])
        /// Registered by nobody.
        case unknown
    }

    final class Property {
        let key: PropertyKey
        let tag: UInt16
        let affectedBy: Set<String>
        let read: (AnyObject) -> Any?

        init(key: PropertyKey, tag: UInt16, affectedBy: Set<String>, read: @escaping (AnyObject) -> Any?) {
            self.key = key
            self.tag = tag
            self.affectedBy = affectedBy
            self.read = read
        }
    }

    private let type: ObjectIdentifier
    /// Held, so that its address means it and no other.
    private let path: AnyKeyPath

    private init(_ path: AnyKeyPath, statically table: KeyTable, _ type: any KeyValueObservable.Type) {
        self.path = path
        self.type = ObjectIdentifier(type)
        if let key = table.key(at: path) {
            meaning = .property(
                Property(
                    key: .name(key.name), tag: key.tag, affectedBy: type.namesAffecting(key.name), read: key.read))
        } else if let components = table.components(of: path), components.count > 1 {
            meaning = .nested(components)
        } else {
            meaning = .unknown
        }
    }

    /// - Parameters:
    ///   - table: Of the type the key path is spelled with.
    ///   - type: Of the object.
    static func of(
        _ path: AnyKeyPath, in table: @autoclosure () -> KeyTable, for type: any KeyValueObservable.Type
    ) -> Resolution {
        let thread = ObservingThread.current
        if thread.resolutions.isEmpty { thread.resolutions = [Resolution?](repeating: nil, count: 16) }
        // A literal key path is one object, so a program has few.
        let slot = Int(UInt(bitPattern: ObjectIdentifier(path)) >> 4 & 15)
        if let known = thread.resolutions[slot], known.path === path, known.type == ObjectIdentifier(type) {
            return known
        }
        let new = Resolution(path, statically: table(), type)
        thread.resolutions[slot] = new
        return new
    }
}
