/// An object that is notified of changes of properties that it observes by name.
public protocol KeyValueObserver: AnyObject {
    /// Called at each change, on the thread that makes the change.
    ///
    /// - Parameters:
    ///   - keyPath: The name or path with which the observer was added.
    ///   - object: The object whose property changes.
    ///   - change: The kind of the change, and the values that the options request. An optional property without a value has no
    ///     entry.
    ///   - context: The pointer with which the observer was added.
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?)
}

extension KeyValueObservable {
    /// Adds an observer of the property of this name, or of the property at the end of a path of names.
    ///
    /// Neither object keeps the other alive, and a deallocated observer is not notified. An unregistered name is observed too:
    /// its announced changes notify the observer, without values. All aliases of a name identify the same property.
    ///
    /// - Parameters:
    ///   - observer: The object to notify.
    ///   - keyPath: The name of the property, or a path of names.
    ///   - options: The values that the observer receives, and the additional calls.
    ///   - context: A pointer that is passed to the observer with each change.
    public func addObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) {
        start(observation(by: observer, of: keyPath, options, context))
    }

    /// Adds an observer, or throws if a name on the path is not registered.
    public func tryAddObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) throws(KeyValueError) {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try type(of: self).checkPath(names, keyPath)
        addObserver(observer, forKeyPath: keyPath, options: options, context: context)
    }

    /// Removes the last registration of this observer with this path and context.
    ///
    /// A missing registration is a programming error and stops the process with a message. To handle the error, use
    /// `tryRemoveObserver(_:forKeyPath:context:)`.
    public func removeObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) {
        stopOnKeyValueError { () throws(KeyValueError) in
            try remove(observer, keyPath) { $0.context == context }
        }
    }

    /// Removes the last registration of this observer with this path, with any context.
    ///
    /// A missing registration is a programming error and stops the process with a message. To handle the error, use
    /// `tryRemoveObserver(_:forKeyPath:)`.
    public func removeObserver(_ observer: any KeyValueObserver, forKeyPath keyPath: String) {
        stopOnKeyValueError { () throws(KeyValueError) in try tryRemoveObserver(observer, forKeyPath: keyPath) }
    }

    /// Removes the last registration of this observer with this path. If the function throws, it has changed nothing.
    public func tryRemoveObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String
    ) throws(KeyValueError) { try remove(observer, keyPath) { _ in true } }

    /// Removes the last registration of this observer with this path and context. If the function throws, it has changed
    /// nothing.
    public func tryRemoveObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) throws(KeyValueError) { try remove(observer, keyPath) { $0.context == context } }

    private func remove(
        _ observer: any KeyValueObserver, _ keyPath: String, where isMeant: (NamedObservation) -> Bool
    ) throws(KeyValueError) {
        let registrant = Registrant(observer: ObjectIdentifier(observer), path: keyPath)
        var found: Observation?
        keyValueRegistrar.step { state in
            found = state.last(of: registrant) { ($0 as? NamedObservation).map(isMeant) ?? false }
            if let found { state.remove(found) }
        }
        guard let found else {
            throw .notObserving(observer: "\(type(of: observer))", class: "\(type(of: self))", path: keyPath)
        }
        found.invalidate()
    }

    private func observation(
        by observer: any KeyValueObserver, of keyPath: String, _ options: NSKeyValueObservingOptions,
        _ context: UnsafeMutableRawPointer?
    ) -> Observation {
        let names = keyPath.split(separator: ".").map(String.init)
        let isPath = names.count > 1
        let type = type(of: self)
        let table = KeyTable.of(type)
        let property = PropertyDescription(
            isPath ? .name(keyPath) : table.canonical(keyPath),
            affectedBy: isPath ? [keyPath] : type.namesAffecting(table.key(named: keyPath)?.name ?? keyPath)
        ) {
            NamedObservation.value(of: names, in: $0)
        }
        return NamedObservation(property, options, observer: observer, path: keyPath, context: context)
    }
}

/// An observer by name, and the path that it observes.
///
/// The identity must not come from the weak reference. The weak reference is nil while the observer's `deinit` removes the
/// observer. A loaded reference may also become the last one, and its release would run another observer's `deinit` under the
/// lock.
struct Registrant: Hashable {
    let observer: ObjectIdentifier
    let path: String
}

/// An observation by name.
private final class NamedObservation: Observation, @unchecked Sendable {
    // Sendable: the properties are constant. The observer is responsible for the context.
    private weak var observer: (any KeyValueObserver)?
    private let own: Registrant
    let context: UnsafeMutableRawPointer?

    init(
        _ property: PropertyDescription, _ options: NSKeyValueObservingOptions, observer: any KeyValueObserver,
        path: String, context: UnsafeMutableRawPointer?
    ) {
        self.observer = observer
        own = Registrant(observer: ObjectIdentifier(observer), path: path)
        self.context = context
        super.init(property, options)
    }

    override var registrant: Registrant? { own }

    override var isAbandoned: Bool { observer == nil }

    static func value(of names: [String], in object: AnyObject) -> Any? {
        var object = object
        for name in names.dropLast() {
            guard let child = key(name, of: object)?.child(of: object) else { return nil }
            object = child
        }
        return names.last.flatMap { key($0, of: object)?.read(object) }
    }

    private static func key(_ name: String, of object: AnyObject) -> KeyValueKey? {
        (object as? any KeyValueObservable).flatMap { KeyTable.of(type(of: $0)).key(named: name) }
    }

    override func notify(_ object: AnyObject, _ change: Change) {
        guard let observer else { return invalidate() }
        var dictionary: [NSKeyValueChangeKey: Any] = [.kindKey: change.kind.rawValue]
        if options.contains(.old) { dictionary[.oldKey] = change.old.flatMap(KeyValueKey.present) }
        if options.contains(.new) { dictionary[.newKey] = change.new.flatMap(KeyValueKey.present) }
        dictionary[.indexesKey] = change.indexes?.ranges
        if change.isPrior { dictionary[.notificationIsPriorKey] = true }
        observer.observeValue(forKeyPath: own.path, of: object, change: dictionary, context: context)
    }
}
