/// A class whose properties can be observed, by key path or by name.
///
/// A class writes one line for itself and one word for each property:
///
///     final class Thermometer: KeyValueObservable {
///         let keyValueObservers = KeyValueObservers()
///         @KeyValueObserved var celsius = 20.0
///     }
///
///     let token = thermometer.observe(\.celsius, options: [.old, .new]) { _, change in
///         print(change.oldValue!, "→", change.newValue!)
///     }
///
/// A property that is stored elsewhere or computed is announced by hand, with `willChangeValue(for:)` before the change
/// and `didChangeValue(for:)` after it. What is to be known by a name is registered in `keyValueKeys`.
///
/// Handlers are called on the thread that makes the change, after it, in the order of the changes of one property, each
/// once; no lock is held, so a handler may do anything (rule K6). A change that is made while another thread, or a handler
/// further up on the same thread, is being told of a change of the same property is told by that thread, afterwards.
public protocol KeyValueObservable: AnyObject, SendableMetatype {
    /// The observers of this object: a stored property, `let keyValueObservers = KeyValueObservers()`.
    var keyValueObservers: KeyValueObservers { get }

    /// The properties that have names. None by default.
    ///
    /// A class that is not final gives them in `extension KeyValueObservable where Self: ThatClass`, with key paths of
    /// `Self`, so that they are found by the key paths of subclasses too.
    static var keyValueKeys: [KeyValueKey] { get }

    /// The names of the properties, or paths of names, whose changes may change the property of this name.
    static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String>
}

extension KeyValueObservable {
    public static var keyValueKeys: [KeyValueKey] { [] }

    public static func keyPathsForValuesAffectingValue(forKey key: String) -> Set<String> { [] }
}

// MARK: - Observing

extension KeyValueObservable {
    /// Calls `changeHandler` at each change of a property until the result is invalidated or released (rule K2).
    ///
    /// The object and the handler do not keep one another alive, except as the handler captures. A nested key path, such
    /// as `\.owner.name`, is observed along the whole way if every class on it takes part and has registered the
    /// properties.
    ///
    /// A property that is neither registered nor `@KeyValueObserved` is observed as well, though no change of it may ever be
    /// announced: the class may announce it at any later time, so this is no error and no message is logged.
    @preconcurrency @inlinable
    public func observe<Value>(
        _ keyPath: KeyPath<Self, Value>, options: NSKeyValueObservingOptions = [],
        changeHandler: @escaping @Sendable (Self, NSKeyValueObservedChange<Value>) -> Void
    ) -> NSKeyValueObservation {
        token(for: keyPath, options) { object, change in
            changeHandler(unsafeDowncast(object, to: Self.self), NSKeyValueObservedChange<Value>(change, for: options))
        }
    }

    @usableFromInline
    func token<Value>(
        for keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping @Sendable (AnyObject, Change) -> Void
    ) -> NSKeyValueObservation { NSKeyValueObservation(startObserving(keyPath, options, handler)) }

    func startObserving<Value>(
        _ keyPath: KeyPath<Self, Value>, _ options: NSKeyValueObservingOptions,
        _ handler: @escaping @Sendable (AnyObject, Change) -> Void
    ) -> Observation {
        let observation: Observation
        switch Resolution.meaning(of: keyPath, in: KeyTable.of(Self.self), for: type(of: self)) {
        case .property(let property):
            observation = HandlerObservation(property, options, handler: handler)
        case .nested(let components):
            observation = HandlerObservation(PropertyDescription(nested: components), options, handler: handler)
            observation.watches = [PathWatch(components.map(\.name), for: observation)]
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

    /// Whether a class above or below `Self` may announce properties of this object, by key paths of its own.
    private var mayBeAnnouncedByOtherClass: Bool {
        Self.self != type(of: self) || _getSuperclass(Self.self) is any KeyValueObservable.Type
    }

    /// Registers an observation, and what it depends on in other objects.
    func start(_ observation: Observation) {
        observation.watchWhatAffectsIt(from: self)
        keyValueObservers.add(observation, of: self)
    }

    /// Everything that may change a property, directly or not.
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

    /// The properties of this type, of which an override may be one, and what affects them, directly or not.
    static func namesAffectingAny(ofType type: any Any.Type) -> Set<String> {
        let names = KeyTable.of(Self.self).names(ofType: type)
        return names.reduce(into: names) { $0.formUnion(namesAffecting($1)) }
    }
}
