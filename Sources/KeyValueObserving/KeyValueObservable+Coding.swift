// Key-value coding: access to properties by name.
extension KeyValueObservable {
    /// Returns the value of the property of this name; nil for an optional property without a value.
    ///
    /// An unknown name stops the process with a message. To handle the error, use `tryValue(forKey:)`.
    public func value(forKey key: String) -> Any? {
        stopOnKeyValueError { () throws(KeyValueError) in try tryValue(forKey: key) }
    }

    /// Returns the value of the property of this name, or throws if the name is unknown.
    public func tryValue(forKey key: String) throws(KeyValueError) -> Any? {
        KeyValueKey.present(try registered(key).read(self))
    }

    /// Assigns to the property of this name. A property that announces its changes announces this change too.
    ///
    /// Only optional properties accept nil. An unknown name, a read-only property, and a value of another type stop the process
    /// with a message. To handle the error, use `trySetValue(_:forKey:)`.
    public func setValue(_ value: Any?, forKey key: String) {
        stopOnKeyValueError { () throws(KeyValueError) in try trySetValue(value, forKey: key) }
    }

    /// Assigns to the property of this name. If the function throws, it has changed nothing.
    public func trySetValue(_ value: Any?, forKey key: String) throws(KeyValueError) {
        let property = try registered(key)
        guard let write = property.write else { throw .readOnly(class: "\(type(of: self))", key: property.name) }
        guard write(self, value) else {
            throw .wrongType(
                class: "\(type(of: self))", key: property.name, expected: "\(property.valueType)",
                found: value.map { "\(type(of: $0))" } ?? "nil")
        }
    }

    /// Returns the value at the end of a path of names, such as `"owner.name"`; nil if an object on the path is missing.
    ///
    /// An unknown name stops the process with a message. To handle the error, use `tryValue(forKeyPath:)`.
    public func value(forKeyPath path: String) -> Any? {
        stopOnKeyValueError { () throws(KeyValueError) in try tryValue(forKeyPath: path) }
    }

    /// Returns the value at the end of a path of names, or throws if a name is unknown.
    public func tryValue(forKeyPath path: String) throws(KeyValueError) -> Any? {
        let (object, key) = try end(of: path)
        return try object?.tryValue(forKey: key)
    }

    /// Assigns to the property at the end of a path of names. The call has no effect if an object on the path is missing.
    ///
    /// An unknown name, a read-only property, and a value of another type stop the process with a message. To handle the error,
    /// use `trySetValue(_:forKeyPath:)`.
    public func setValue(_ value: Any?, forKeyPath path: String) {
        stopOnKeyValueError { () throws(KeyValueError) in try trySetValue(value, forKeyPath: path) }
    }

    /// Assigns to the property at the end of a path of names. If the function throws, it has changed nothing.
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

    /// Returns the object at the end of a path, and the name of its property. The function checks every name on the path.
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

    /// Throws unless every name on a path is registered. The check uses the declared types of the properties.
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
