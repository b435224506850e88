/// The meaning of a key path for a class. A meaning is found once for each pair, and then looked up by identity.
struct Resolution {
    let meaning: Meaning

    enum Meaning {
        case property(PropertyDescription)
        /// A path through several objects.
        case nested([KeyValueKey])
        /// A key path that is not registered.
        case unknown
    }

    private let type: ObjectIdentifier
    /// A strong reference, so that no other key path can have this address.
    private let path: AnyKeyPath

    private init(_ path: AnyKeyPath, statically table: KeyTable, _ type: any KeyValueObservable.Type) {
        self.path = path
        self.type = ObjectIdentifier(type)
        if let key = table.key(at: path) {
            meaning = .property(
                PropertyDescription(
                    .name(key.name), tag: key.tag, affectedBy: type.namesAffecting(key.name), read: key.read))
        } else if let components = table.components(of: path), components.count > 1 {
            meaning = .nested(components)
        } else {
            meaning = .unknown
        }
    }

    /// Returns the meaning of a key path.
    ///
    /// - Parameters:
    ///   - table: The table of the class that the key path is spelled with.
    ///   - type: The class of the object.
    static func meaning(
        of path: AnyKeyPath, in table: @autoclosure () -> KeyTable, for type: any KeyValueObservable.Type
    ) -> Meaning {
        ObservingThread.unmanaged._withUnsafeGuaranteedRef { thread in
            // A literal key path is one object, so a program has few key paths.
            let slot = thread.resolutions + Int(UInt(bitPattern: ObjectIdentifier(path)) >> 4 & 15)
            if let known = slot.pointee, known.path === path, known.type == ObjectIdentifier(type) {
                return known.meaning
            }
            let new = Resolution(path, statically: table(), type)
            slot.pointee = new
            return new.meaning
        }
    }

    /// Allocates a thread's cache of the key paths that the thread used last.
    static func makeCache() -> UnsafeMutablePointer<Resolution?> {
        let cache = UnsafeMutablePointer<Resolution?>.allocate(capacity: 16)
        cache.initialize(repeating: nil, count: 16)
        return cache
    }

    static func free(_ cache: UnsafeMutablePointer<Resolution?>) {
        cache.deinitialize(count: 16)
        cache.deallocate()
    }
}
