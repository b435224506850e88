/// A class that says when its properties change, by string key or key path, in the manner of key-value observing.
///
/// `Operation` adopts it: an asynchronous subclass announces `isExecuting` and `isFinished` with it, and its queue
/// listens (rules L7, L8).
public protocol KeyValueAnnouncing: AnyObject {
    /// Says that the property named `key` is about to change. Always paired with `didChangeValue(forKey:)`.
    func willChangeValue(forKey key: String)
    /// Says that the property named `key` has changed.
    func didChangeValue(forKey key: String)
}

extension Operation {
    /// Says that a property is about to change: `"isFinished"` and `"finished"` mean the same (rule L7).
    public final func willChangeValue(forKey key: String) {
        if let property = ObservedProperty(key: key) { tell(.will, property) }
    }

    /// Says that a property has changed. The queue looks at `isFinished`, `isReady`, `isCancelled` and `queuePriority`
    /// then, as overridden.
    public final func didChangeValue(forKey key: String) {
        guard let property = ObservedProperty(key: key) else { return }
        tell(.did, property)
        announced(property)
    }
}

extension KeyValueAnnouncing where Self: Operation {
    /// Says that a property is about to change, by key path: `willChangeValue(for: \.isFinished)`.
    public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        tell(.will, ObservedProperty.of(keyPath, in: Self.self))
    }

    /// Says that a property has changed, by key path.
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        let properties = ObservedProperty.of(keyPath, in: Self.self)
        tell(.did, properties)
        announced(properties)
    }
}

extension ObservedProperty {
    /// The properties a key path of an operation class may mean.
    ///
    /// `\Operation.isFinished` and `\MyOperation.isFinished` are different key paths, and no name can be read off
    /// either. But a literal in a generic function, with `Root` bound to `MyOperation`, equals the one in the user's
    /// code; so each class gets a table made of such literals, once.
    ///
    /// There is one hole: in a `final` class, or for a `final override`, the user's literal means the override alone and
    /// equals no other. Such a key path is taken for every property of its type that the flow acts on. That is as good:
    /// the flow asks the properties for their values, and asking once too often does no harm.
    static func of<Root: Operation, Value>(_ keyPath: KeyPath<Root, Value>, in root: Root.Type) -> Self {
        if let known = table(of: root)[keyPath] { return known }
        if Value.self == Bool.self { return [.isFinished, .isReady, .isCancelled] }
        return Value.self == Operation.QueuePriority.self ? [.queuePriority] : []
    }

    private static func table<Root: Operation>(of root: Root.Type) -> [AnyKeyPath: Self] {
        if let known = tables.withLock({ $0[ObjectIdentifier(root)] }) { return known }
        let table: [AnyKeyPath: Self] = [
            \Root.isCancelled: .isCancelled,
            \Root.isAsynchronous: .isAsynchronous,
            \Root.isExecuting: .isExecuting,
            \Root.isFinished: .isFinished,
            \Root.isReady: .isReady,
            \Root.dependencies: .dependencies,
            \Root.queuePriority: .queuePriority,
            \Root.completionBlock: .completionBlock,
            \Root.name: .name,
            \Root.qualityOfService: .qualityOfService,
        ]
        tables.withLock { $0[ObjectIdentifier(root)] = table }
        return table
    }

    private static let tables = Locked<[ObjectIdentifier: [AnyKeyPath: Self]]>([:])
}
