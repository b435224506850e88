/// The name of a property, for string keys, key-value coding, nested key paths and dependent properties.
///
/// A class lists those that it registers in `KeyValueObservable.keyValueKeys`.
public struct KeyValueKey: @unchecked Sendable {
    // Sendable: constants, and closures over constants.

    /// The name by which the property is known.
    public let name: String
    /// Other names that mean the same.
    public let aliases: [String]
    /// The names of properties of the same object, or paths of names, whose changes may change this property.
    public let affectedBy: Set<String>

    /// A bit for a property that the object's own class knows; 0 for all others.
    package var tag: UInt16 = 0
    let path: AnyKeyPath
    let valueType: any Any.Type
    /// The class of the object that the property holds, if that takes part in observing.
    let childType: (any KeyValueObservable.Type)?
    /// The present value, as an `Any` that holds the property's own type.
    let read: (AnyObject) -> Any
    /// Assigns a value; false when it has the wrong type. nil for a property that is only read.
    let write: ((AnyObject, Any?) -> Bool)?
    /// The class that the key path begins at.
    let rootType: any Any.Type
    /// Whether objects of a class have the property. `read` and `write` rely on it without a check of their own.
    let isProperty: (_ of: any KeyValueObservable.Type) -> Bool

    /// A property that can be read and, if the key path allows, set.
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

    /// The object that the property holds now.
    func child(of object: AnyObject) -> (any KeyValueObservable)? {
        guard childType != nil else { return nil }
        return Self.present(read(object)) as? any KeyValueObservable
    }

    /// The value without the optional around it, if there is one.
    static func present(_ value: Any) -> Any? {
        guard let optional = value as? any OptionalValue else { return value }
        return optional.present
    }

    private static func converted<Value>(_ value: Any?, to type: Value.Type) -> Value? {
        if let value { return value as? Value ?? KeyValueConversion.convert(value, to: type) }
        // nil stands for the absent value of an optional property, and for nothing else.
        return (Value.self as? any OptionalValue.Type)?.absent as? Value
    }
}

/// What an optional says of itself when its type is not known.
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
