// Key-value coding: properties by name (rule K5).
extension KeyValueObservable {
    /// The value of the property of this name; nil also for an optional one without a value.
    ///
    /// An unknown name stops the process with a message; `tryValue(forKey:)` throws instead.
    public func value(forKey key: String) -> Any? {
        stopOnKeyValueError { () throws(KeyValueError) in try tryValue(forKey: key) }
    }

    /// `value(forKey:)` that throws for an unknown name.
    public func tryValue(forKey key: String) throws(KeyValueError) -> Any? {
        KeyValueKey.present(try registered(key).read(self))
    }

    /// Assigns to the property of this name, which announces the change if it does so otherwise.
    ///
    /// nil is for optional properties. An unknown name, a property that can only be read and a value of another type stop
    /// the process with a message; `trySetValue(_:forKey:)` throws instead.
    public func setValue(_ value: Any?, forKey key: String) {
        stopOnKeyValueError { () throws(KeyValueError) in try trySetValue(value, forKey: key) }
    }

    /// `setValue(_:forKey:)` that throws, and then has changed nothing.
    public func trySetValue(_ value: Any?, forKey key: String) throws(KeyValueError) {
        let property = try registered(key)
        guard let write = property.write else { throw .readOnly(class: "\(type(of: self))", key: property.name) }
        guard write(self, value) else {
            throw .wrongType(
                class: "\(type(of: self))", key: property.name, expected: "\(property.valueType)",
                found: value.map { "\(type(of: $0))" } ?? "nil")
        }
    }

    /// The value at the end of a path of names, such as `"owner.name"`; nil if an object on the way is missing.
    public func value(forKeyPath path: String) -> Any? {
        stopOnKeyValueError { () throws(KeyValueError) in try tryValue(forKeyPath: path) }
    }

    /// `value(forKeyPath:)` that throws for an unknown name.
    public func tryValue(forKeyPath path: String) throws(KeyValueError) -> Any? {
        let (object, key) = try end(of: path)
        return try object?.tryValue(forKey: key)
    }

    /// Assigns at the end of a path of names; without effect if an object on the way is missing.
    public func setValue(_ value: Any?, forKeyPath path: String) {
        stopOnKeyValueError { () throws(KeyValueError) in try trySetValue(value, forKeyPath: path) }
    }

    /// `setValue(_:forKeyPath:)` that throws, and then has changed nothing.
    public func trySetValue(_ value: Any?, forKeyPath path: String) throws(KeyValueError) {
        let (object, key) = try end(of: path)
        try object?.trySetValue(value, forKey: key)
    }

    private func registered(_ key: String) throws(KeyValueError) -> KeyValueKey {
        guard let property = KeyTable.of(type(of: self)).key(named: key) else {
            throw .unknown(key, in: type(of: self))
        }
        return property
    }

    /// The object at the end of a path, and the name of its property. Every name on the path is checked.
    private func end(of path: String) throws(KeyValueError) -> (object: (any KeyValueObservable)?, key: String) {
        let names = path.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try type(of: self).checkPath(names, path)
        var object: (any KeyValueObservable)? = self
        for name in names.dropLast() {
            guard let owner = object else { break }
            object = KeyTable.of(type(of: owner)).key(named: name)?.child(of: owner)
        }
        return (object, names[names.count - 1])
    }

    /// That each name on a path is registered, as far as the declared types tell.
    static func checkPath(_ names: [String], _ path: String) throws(KeyValueError) {
        var type: any KeyValueObservable.Type = Self.self
        for (index, name) in names.enumerated() {
            guard let key = KeyTable.of(type).key(named: name) else { throw .unknown(name, in: type) }
            guard index < names.count - 1 else { return }
            guard let child = key.childType else { throw .noObject(class: "\(type)", key: name, path: path) }
            type = child
        }
    }
}
