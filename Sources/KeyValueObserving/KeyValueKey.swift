/// The name of a property, for string keys, key-value coding, nested key paths and dependent properties.
///
/// A class lists its registered properties in `KeyValueObservable.keyValueKeys`.
public struct KeyValueKey: @unchecked Sendable {
    // Sendable: constants, and closures over constants.

    /// The name of the property.
    public let name: String
    /// Other names of the property.
    public let aliases: [String]
    /// The names of properties of the same object, or paths of names, whose changes may change this property.
    public let affectedBy: Set<String>

    /// A bit that identifies a property to the object's own class; 0 for all other properties.
    package var tag: UInt16 = 0
    let path: AnyKeyPath
    let valueType: any Any.Type
    /// The class of the object that the property holds, if that class is observable.
    let childType: (any KeyValueObservable.Type)?
    /// Reads the present value, as an `Any` that holds the property's own type.
    let read: (AnyObject) -> Any
    /// Assigns a value, and returns false if the value has the wrong type; nil for a read-only property.
    let write: ((AnyObject, Any?) -> Bool)?
    /// The class at the root of the key path.
    let rootType: any Any.Type
    /// Whether objects of a class have the property. `read` and `write` rely on this check and do not repeat it.
    let isProperty: (_ of: any KeyValueObservable.Type) -> Bool

    /// Creates a key for a property that can be read and, if the key path is writable, set.
    ///
    /// - Parameters:
    ///   - name: The name of the property.
    ///   - aliases: Other names of the property.
    ///   - path: The key path of the property.
    ///   - affectedBy: The names of properties of the same object, or paths of names, whose changes may change this property.
    public init<Root: AnyObject, Value>(
        _ name: String, aliases: [String] = [], _ path: KeyPath<Root, Value>, affectedBy: Set<String> = []
    ) {
        self.name = name
        self.aliases = aliases
        self.affectedBy = affectedBy
        self.path = path
        valueType = Value.self
        let objectType = (Value.self as? any OptionalValue.Type)?.wrappedType ?? Value.self
        childType = objectType as? any KeyValueObservable.Type
        rootType = Root.self
        isProperty = { $0 is Root.Type }
        read = { unsafeDowncast($0, to: Root.self)[keyPath: path] }
        guard let path = path as? ReferenceWritableKeyPath<Root, Value> else {
            write = nil
            return
        }
        write = { object, value in
            guard let value = Self.converted(value, to: Value.self) else { return false }
            unsafeDowncast(object, to: Root.self)[keyPath: path] = value
            return true
        }
    }

    func isNamed(_ name: String) -> Bool { self.name == name || aliases.contains(name) }

    /// Returns the object that the property holds now.
    func child(of object: AnyObject) -> (any KeyValueObservable)? {
        guard childType != nil else { return nil }
        return Self.present(read(object)) as? any KeyValueObservable
    }

    /// Returns the value without its optional; nil if the optional is empty.
    static func present(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.present
    }

    private static func converted<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        if let value { return value as? Value ?? KeyValueConversion.convert(value, to: type) }
        // nil represents the missing value of an optional property. No other property accepts nil.
        return (Value.self as? any OptionalValue.Type)?.absent as? Value
    }
}

/// The properties of an optional whose wrapped type is not known at compile time.
protocol OptionalValue {
    static var wrappedType: any Any.Type { get }
    static var absent: Self { get }
    var present: Any? { get }
}

extension Optional: OptionalValue {
    static var wrappedType: any Any.Type { Wrapped.self }
    static var absent: Self { nil }
    var present: Any? { map { $0 } }
}
