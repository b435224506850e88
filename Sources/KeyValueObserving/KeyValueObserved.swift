/// A stored property that announces its changes.
///
/// The class must be `KeyValueObservable`. If the class is also `Observable`, the property takes part in the Observation
/// framework too.
///
/// A read costs some ten nanoseconds if the class is `Observable`, and a change costs a check for observers. A change in place,
/// such as `append`, copies the value only if an observer requests the old value. As with any stored property, two threads must
/// not use the property at the same time without a lock. Code that a change in place calls must not use the property either.
@propertyWrapper
public struct KeyValueObserved<Value> {
    private var value: Value

    /// Creates a property with an initial value.
    public init(wrappedValue: Value) { value = wrappedValue }

    @available(*, unavailable, message: "@KeyValueObserved requires a class that conforms to KeyValueObservable")
    public var wrappedValue: Value {
        get { fatalError() }
        set { fatalError() }
    }

    public static subscript<Object: KeyValueObservable>(
        _enclosingInstance object: Object, wrapped keyPath: ReferenceWritableKeyPath<Object, Value>,
        storage storage: ReferenceWritableKeyPath<Object, Self>
    ) -> Value {
        get {
            noteRead(of: object, keyPath)
            return object[keyPath: storage].value
        }
        set {
            object.willChangeValue(for: keyPath)
            object[keyPath: storage].value = newValue
            object.didChangeValue(for: keyPath)
        }
        _modify {
            noteRead(of: object, keyPath)
            // Observers are called before and after the access to the stored value, so that they can read it.
            let key = Object.propertyKey(keyPath)
            let announcement = object.beginAccess(key)
            // Also if the change throws. An observer that was added meanwhile is notified too.
            defer { object.endAccess(key, announcement) }
            yield &object[keyPath: storage].value
        }
    }

    private static func noteRead<Object: KeyValueObservable>(
        of object: Object, _ keyPath: ReferenceWritableKeyPath<Object, Value>
    ) {
        // `isObservable` comes first. The framework keeps a tracking closure until the thread ends if the closure has read only
        // the thread's detector.
        if ObservingThread.current.isObservable(object), Tracking.mayConcern(object.keyValueRegistrar) {
            object.trackIfObservable(keyPath)
        }
    }
}

extension KeyValueObserved: Sendable where Value: Sendable {}
