/// A class whose properties can be observed, by key path or by name.
///
/// A class needs one line for itself and one attribute for each property:
///
/// ```swift
/// final class Thermometer: KeyValueObservable {
///     let keyValueRegistrar = KeyValueRegistrar()
///     @KeyValueObserved var celsius = 20.0
/// }
///
/// let token = thermometer.observe(\.celsius, options: [.old, .new]) { _, change in
///     print(change.oldValue!, "→", change.newValue!)
/// }
/// ```
///
/// Announce a property that is stored elsewhere or computed by hand: call `willChangeValue(for:)` before the change and
/// `didChangeValue(for:)` after it. To give properties names, register them in `keyValueKeys`.
///
/// A handler is called after each change, on the thread that makes the change, in the order of the changes of one property. No
/// lock is held during the call, so a handler may do anything. While a thread notifies the observers of a property,
/// it also delivers later changes of that property, made by other threads or by handlers.
public protocol KeyValueObservable: AnyObject, SendableMetatype {
    /// The observers of this object. Declare a stored property, `let keyValueRegistrar = KeyValueRegistrar()`.
    var keyValueRegistrar: KeyValueRegistrar { get }

    /// The properties that have names. The default is an empty array.
    ///
    /// A class that is not final declares its keys in `extension KeyValueObservable where Self: ThatClass`, with key paths of
    /// `Self`. Key paths of subclasses then find the keys too.
    static var keyValueKeys: [KeyValueKey] { get }

    /// Returns the names of the properties, or paths of names, whose changes may change the property of this name.
    ///
    /// The default implementation returns an empty set.
    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String>
}

extension KeyValueObservable {
    public static var keyValueKeys: [KeyValueKey] { [] }

    public static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
}

// MARK: - Observing

extension KeyValueObservable {
    /// Calls `changeHandler` at each change of a property until the returned observation is invalidated or released.
    ///
    /// The object and the handler do not keep each other alive, except through values that the handler captures. A nested key
    /// path, such as `\.owner.name`, is observed at every step if every class on the path is observable and has registered the
    /// properties.
    ///
    /// A property that is neither registered nor `@KeyValueObserved` can be observed too, although no class may ever announce
    /// it. This is not an error, because a class may announce any property later.
    ///
    /// - Parameters:
    ///   - keyPath: The key path of the property.
    ///   - options: The values that the handler receives, and the additional calls.
    ///   - changeHandler: Called with the object and the change, on the thread that makes the change.
    /// - Returns: The observation. The observation ends when it is released, so keep a reference to it.
    @preconcurrency @inlinable
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        token(for: keyPath, options) { object, change in
            changeHandler(
                unsafeDowncast(object, to: Self.self), NSKeyValueObservedChange<Value>(change.pointee, for: options))
        }
    }

    @usableFromInline
    func token<Value>(
        for keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping ChangeHandler
    ) -> NSKeyValueObservation { NSKeyValueObservation(startObserving(keyPath, options, handler)) }

    func startObserving<Value>(
        _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping ChangeHandler
    ) -> Observation {
        let observation: Observation
        switch Resolution.meaning(of: keyPath, in: KeyTable.of(Self.self), for: type(of: self)) {
        case .property(let property):
            observation = HandlerObservation(property, options, handler: handler)
        case .nested(let components):
            observation = HandlerObservation(PropertyDescription(nested: components), options, handler: handler)
        case .unknown:
            let override = PropertyDescription(
                .path(keyPath), affectedBy: Self.namesAffectingAny(ofType: Value.self),
                unregisteredPath: mayBeAnnouncedByOtherClass ? keyPath : nil
            ) { unsafeDowncast($0, to: Self.self)[keyPath: keyPath] }
            observation = OverrideObservation(override, options, handler: handler)
        }
        start(observation)
        return observation
    }

    /// Whether a class above or below `Self` may announce properties of this object by its own key paths.
    private var mayBeAnnouncedByOtherClass: Bool {
        Self.self != type(of: self) || _getSuperclass(Self.self) is any KeyValueObservable.Type
    }

    /// Registers an observation, together with the paths to other objects that it depends on.
    func start(_ observation: Observation) {
        observation.watchWhatAffectsIt(from: self)
        keyValueRegistrar.add(observation, of: self)
    }

    /// Returns the names of all properties that may change a property, directly or indirectly.
    package static func namesAffecting(_ name: String) -> Set<String> {
        let table = KeyTable.of(Self.self)
        var found: Set<String> = []
        var unvisited = [name]
        while let next = unvisited.popLast() {
            let direct = keyPathsForValuesAffectingValue(forKey: next).union(table.key(named: next)?.affectedBy ?? [])
            for affecting in direct {
                let canonical = table.key(named: affecting)?.name ?? affecting
                if canonical != name, found.insert(canonical).inserted { unvisited.append(canonical) }
            }
        }
        return found
    }

    /// Returns the names of all properties of this type, and the names of the properties that affect them.
    ///
    /// An override of an unknown property may be an override of any property of its type.
    static func namesAffectingAny(ofType type: any Any.Type) -> Set<String> {
        let names = KeyTable.of(Self.self).names(ofType: type)
        return names.reduce(into: names) { $0.formUnion(namesAffecting($1)) }
    }
}
