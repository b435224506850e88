/// A stored property that announces its changes.
///
/// The class has to be `KeyValueObservable`. Costs what the property costs, and a look for observers at each change. As
/// with any stored property, two threads must not use it at the same time without a lock.
@propertyWrapper
public struct KeyValueObserved<Value> {
    private var value: Value

    public init(wrappedValue: Value) { value = wrappedValue }

    @available(*, unavailable, message: "@KeyValueObserved is for properties of classes that are KeyValueObservable")
    public var wrappedValue: Value {
        get { fatalError() }
        set { fatalError() }
    }

    public static subscript<Object: KeyValueObservable>(
        _enclosingInstance object: Object, wrapped keyPath: ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Self>
    ) -> Value {
        get { object[keyPath: storage].value }
        set {
            object.willChangeValue(for: keyPath)
            object[keyPath: storage].value = newValue
            object.didChangeValue(for: keyPath)
        }
    }
}

extension KeyValueObserved: Sendable where Value: Sendable {}
