/// An object that is told of changes of properties that it observes by name.
public protocol KeyValueObserver: AnyObject {
    /// Called at each change, on the thread that makes it (rule K6).
    ///
    /// - Parameters:
    ///   - keyPath: The name or path as given when the observer was added.
    ///   - object: The object whose property changes.
    ///   - change: What the options ask for. An optional property without a value counts as nil.
    ///   - context: As given when the observer was added.
    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?)
}

extension KeyValueObservable {
    /// Lets an observer know of each change of a property, named or at the end of a path of names (rule K2).
    ///
    /// Neither object keeps the other alive; an observer that is gone is told nothing. A name that the class has not
    /// registered is observed as announced, without values. Both spellings of a state's name mean the same.
    public func addObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) {
        start(observation(by: observer, of: keyPath, options, context))
    }

    /// `addObserver` that throws for a name, or a path with a name, that is not registered.
    public func tryAddObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, options: NSKeyValueObservingOptions = [],
        context: UnsafeMutableRawPointer?
    ) throws(KeyValueError) {
        let names = keyPath.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        try type(of: self).checkPath(names, keyPath)
        addObserver(observer, forKeyPath: keyPath, options: options, context: context)
    }

    /// Undoes the last `addObserver` with this observer, path and context.
    ///
    /// If there is none, that is an error of the program, and the process stops with a message; `tryRemoveObserver`
    /// throws instead.
    public func removeObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) {
        stopOnKeyValueError { () throws(KeyValueError) in
            try remove(observer, keyPath) { $0.context == context }
        }
    }

    /// Undoes the last `addObserver` with this observer and path, whatever the context.
    public func removeObserver(_ observer: any KeyValueObserver, forKeyPath keyPath: String) {
        stopOnKeyValueError { () throws(KeyValueError) in try tryRemoveObserver(observer, forKeyPath: keyPath) }
    }

    /// `removeObserver` that throws if the observer was not added, and then has changed nothing.
    public func tryRemoveObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String
    ) throws(KeyValueError) { try remove(observer, keyPath) { _ in true } }

    /// `removeObserver` that throws if the observer was not added with this context, and then has changed nothing.
    public func tryRemoveObserver(
        _ observer: any KeyValueObserver, forKeyPath keyPath: String, context: UnsafeMutableRawPointer?
    ) throws(KeyValueError) { try remove(observer, keyPath) { $0.context == context } }

    private func remove(
        _ observer: any KeyValueObserver, _ keyPath: String, where isMeant: (NamedObservation) -> Bool
    ) throws(KeyValueError) {
        var found: NamedObservation?
        keyValueObservers.step { state in
            let index = state.observations.lastIndex {
                guard let named = $0 as? NamedObservation else { return false }
                return named.isBy(observer, of: keyPath) && isMeant(named)
            }
            found = index.flatMap { state.observations.remove(at: $0) as? NamedObservation }
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
            affectedBy: isPath ? [] : type.namesAffecting(table.key(named: keyPath)?.name ?? keyPath)
        ) {
            NamedObservation.value(of: names, in: $0)
        }
        let observation = NamedObservation(property, options, observer: observer, path: keyPath, context: context)
        if isPath { observation.watches = [PathWatch(names, for: observation)] }
        return observation
    }
}

/// An observation by name.
private final class NamedObservation: Observation, @unchecked Sendable {
    // Sendable: constants; the context is the observer's business.
    private weak var observer: (any KeyValueObserver)?
    private let observerID: ObjectIdentifier
    private let path: String
    let context: UnsafeMutableRawPointer?

    init(
        _ property: PropertyDescription, _ options: NSKeyValueObservingOptions, observer: any KeyValueObserver,
        path: String, context: UnsafeMutableRawPointer?
    ) {
        self.observer = observer
        observerID = ObjectIdentifier(observer)
        self.path = path
        self.context = context
        super.init(property, options)
    }

    /// Asked under a lock. Not by the weak reference: that is nil while the observer's `deinit` removes it, and one that is
    /// loaded may become the last, whose release runs another observer's `deinit` in here.
    func isBy(_ observer: any KeyValueObserver, of path: String) -> Bool {
        observerID == ObjectIdentifier(observer) && self.path == path
    }

    override var isAbandoned: Bool { observer == nil }

    static func value(of names: [String], in object: AnyObject) -> Any? {
        var object = object
        for name in names.dropLast() {
            guard let child = key(name, of: object)?.child(of: object) else { return nil }
            object = child
        }
        return key(names[names.count - 1], of: object)?.read(object)
    }

    private static func key(_ name: String, of object: AnyObject) -> KeyValueKey? {
        (object as? any KeyValueObservable).flatMap { KeyTable.of(type(of: $0)).key(named: name) }
    }

    override func tell(_ object: AnyObject, _ change: Change) {
        guard let observer else { return invalidate() }
        var dictionary: [NSKeyValueChangeKey: Any] = [.kindKey: change.kind.rawValue]
        if options.contains(.old) { dictionary[.oldKey] = change.old.flatMap(KeyValueKey.present) }
        if options.contains(.new) { dictionary[.newKey] = change.new.flatMap(KeyValueKey.present) }
        dictionary[.indexesKey] = change.indexes?.ranges
        if change.isPrior { dictionary[.notificationIsPriorKey] = true }
        observer.observeValue(forKeyPath: path, of: object, change: dictionary, context: context)
    }
}
