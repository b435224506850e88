/// A stored property that announces its changes.
///
/// The class has to be `KeyValueObservable`; if it is also `Observable`, the property takes part in the Observation
/// framework too. Costs a look for observers at each change, and some ten nanoseconds at each read. As with any stored
/// property, two threads must not use it at the same time without a lock.
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
        get {
            // Asked first: the framework keeps a closure that tracks as long as the thread lives if it has noted the
            // thread's detector and nothing else.
            if ObservingThread.current.isObservable(object), Tracking.mayConcern(object.keyValueObservers) {
                object.trackIfObservable(keyPath)
            }
            return object[keyPath: storage].value
        }
        set {
            object.willChangeValue(for: keyPath)
            object[keyPath: storage].value = newValue
            object.didChangeValue(for: keyPath)
        }
    }
}

extension KeyValueObserved: Sendable where Value: Sendable {}
