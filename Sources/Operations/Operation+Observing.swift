import CPlatform
public import KeyValueObserving
import SchedulerCore

// Observing operations (section 11 of the rules): which properties there are, and how subclasses announce theirs.

extension KeyValueObservable where Self: Operation {
    /// The properties of every operation that can be observed (rule K1), and those that its class adds.
    ///
    /// In terms of `Self`: `\MyOperation.isFinished` is another key path than `\Operation.isFinished`, and no name can be
    /// read off either; but a literal of a generic type that stands for `MyOperation` equals the user's own (rule K3).
    public static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("isCancelled", aliases: ["cancelled"], \Self.isCancelled),
            KeyValueKey(
                "isAsynchronous", aliases: ["asynchronous", "isConcurrent", "concurrent"], \Self.isAsynchronous),
            KeyValueKey("isExecuting", aliases: ["executing"], \Self.isExecuting),
            KeyValueKey("isFinished", aliases: ["finished"], \Self.isFinished),
            KeyValueKey("isReady", aliases: ["ready"], \Self.isReady),
            KeyValueKey("dependencies", \Self.dependencies),
            KeyValueKey("queuePriority", \Self.queuePriority),
            KeyValueKey("completionBlock", \Self.completionBlock),
            KeyValueKey("name", \Self.name),
            KeyValueKey("qualityOfService", \Self.qualityOfService),
        ].map(tagged) + additionalKeyValueKeys
    }

    private static func tagged(_ key: KeyValueKey) -> KeyValueKey {
        var key = key
        key.tag = ObservedProperty(name: key.name)?.rawValue ?? 0
        return key
    }

    /// Says that a property is about to change: `willChangeValue(for: \.isFinished)` (rule L7).
    public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        let key = Self.propertyKey(keyPath)
        willAnnounce(key)
        expectFlips(by: key, isState: Value.self == Bool.self)
    }

    /// Says that a property has changed. The queue reads `isFinished`, `isReady`, `isCancelled` and `queuePriority`
    /// then, as overridden: the property itself and those that depend on it (rules L7, L8, A1).
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        let key = Self.propertyKey(keyPath)
        didAnnounce(key)
        tellFlips(by: key, isState: Value.self == Bool.self)
        announced(key, candidates: .candidates(Value.self))
    }
}

extension Operation {
    /// Says that a property is about to change: `"isFinished"` and `"finished"` mean the same (rule L7).
    public final func willChangeValue(forKey key: String) { willAnnounce(propertyKey(key)) }

    /// Says that a property has changed. The queue reads `isFinished`, `isReady`, `isCancelled` and `queuePriority`
    /// then, as overridden: the property itself and those that depend on it (rules L7, L8, A1).
    public final func didChangeValue(forKey key: String) {
        let property = propertyKey(key)
        didAnnounce(property)
        announced(property)
    }

    /// An announcement by code that knows the operation as some `KeyValueObservable` only, such as `@KeyValueObserved`.
    /// Observers of the property itself are notified by that code.
    final func willAnnounceGenerically(_ name: String?, _ keyPath: AnyKeyPath?) {
        guard name == nil, let keyPath else { return }
        expectFlips(by: .path(keyPath), isState: type(of: keyPath).valueType == Bool.self)
    }

    /// The end of such an announcement.
    final func didAnnounceGenerically(_ name: String?, _ keyPath: AnyKeyPath?) {
        if let name {
            announced(propertyKey(name))
        } else if let keyPath {
            let valueType = type(of: keyPath).valueType
            tellFlips(by: .path(keyPath), isState: valueType == Bool.self)
            announced(.path(keyPath), candidates: .candidates(valueType))
        }
    }

    private final func propertyKey(_ name: String) -> PropertyKey {
        ObservedProperty(name: name)?.keys[0] ?? type(of: self).propertyKey(named: name)
    }

    fileprivate final func willAnnounce(_ key: PropertyKey) {
        // Announcements of `isReady` are told by `announceReadiness`, in turn with the system's own.
        guard word.lifecycle.contains(.observed), key != ObservedProperty.isReady.keys[0] else { return }
        PendingAnnouncements.begin(key, of: self, in: ownAttachments)
    }

    fileprivate final func didAnnounce(_ key: PropertyKey) {
        guard word.lifecycle.contains(.observed) else { return }
        if key == ObservedProperty.isReady.keys[0] { return announceReadiness() }
        // The observers of the property are told here, and those of what depends on it by name. What depends on a key path
        // without a name is told by `tellFlips`, which claims it.
        if case .name = key {
            let states = isPlainBlock ? [] : DependentStates.of(type(of: self)).affected(by: key)
            ownAttachments.toldFlips.note(states.union(ObservedProperty(key) ?? []))
        }
        PendingAnnouncements.end(key, of: self, in: ownAttachments)
    }

    /// Whether a key path that no class has registered may change a state. In a final class, the key path of a state means
    /// the override alone, and equals none that is known; and a state may depend on a property without a registered name.
    private final func mayFlip(_ key: PropertyKey, isState: Bool) -> Bool {
        guard case .path = key, word.lifecycle.contains(.observed) else { return false }
        return isState || !DependentStates.of(type(of: self)).affected(by: key).isEmpty
    }

    /// In a final class a key path means the override alone, and equals none that is known. Which of the states it is, their
    /// values tell: whoever observes the state in the terms of another class is to be told too (rule K3).
    fileprivate final func expectFlips(by key: PropertyKey, isState: Bool) {
        guard mayFlip(key, isState: isState) else { return }
        // The counts first: a flip between the two is one of the states then.
        let counts = ownAttachments.toldFlips.current
        ThreadContext.current.expectedFlips.append(
            .init(operation: ObjectIdentifier(self), key: key, counts: counts, states: statesAsOverridden))
    }

    fileprivate final func tellFlips(by key: PropertyKey, isState: Bool) {
        guard mayFlip(key, isState: isState) else { return }
        let context = ThreadContext.current
        let id = ObjectIdentifier(self)
        if let last = context.expectedFlips.lastIndex(where: { $0.operation == id && $0.key == key }) {
            let before = context.expectedFlips.remove(at: last)
            // Told with the last of several that change together: by then who observes by such key paths knows of each.
            if let other = context.expectedFlips.firstIndex(where: { $0.operation == id }) {
                guard other >= last else { return announceReadiness(onlyChanges: true) }
                context.expectedFlips[other].counts = before.counts
                context.expectedFlips[other].states = before.states
            } else {
                announceLate(before.states.symmetricDifference(statesAsOverridden), since: before.counts)
            }
        }
        announceReadiness(onlyChanges: true)
    }

    private final var statesAsOverridden: ObservedProperty {
        untracked {
            var states: ObservedProperty = isExecuting ? .isExecuting : []
            if isFinished { states.insert(.isFinished) }
            if isCancelled { states.insert(.isCancelled) }
            return states
        }
    }

    /// Says that a property is about to be read, to whoever tracks what this thread reads (rule K8).
    @inline(__always)
    final func noteRead<Value>(_ path: @autoclosure () -> KeyPath<Operation, Value>) {
        guard !cplatform_this_thread().pointee.isAsking else { return }
        guard Tracking.mayConcern(attachmentsReference.isSet ? attachments : nil) else { return }
        track(path())
    }

    /// User code says that a property has changed: the flow goes on from what that property, and the states that depend on
    /// it, are now, overridden or not.
    ///
    /// - Parameter candidates: The states that an unregistered key path may mean.
    final func announced(_ key: PropertyKey, candidates: ObservedProperty = []) {
        var properties = ObservedProperty(key) ?? []
        if case .path = key { properties = candidates }
        announced(properties.union(dependentStates(of: key)))
    }

    final func announced(_ properties: ObservedProperty) {
        if properties.contains(.isFinished) { finishIfFinished() }
        if !properties.isDisjoint(with: [.isReady, .isCancelled]) { reconsiderReadiness() }
        if properties.contains(.queuePriority) { reconsiderPriority() }
    }

    /// The states that depend on a property. Their observers have been notified of the change.
    private final func dependentStates(of key: PropertyKey) -> ObservedProperty {
        if isPlainBlock { return [] }
        let states = DependentStates.of(type(of: self)).affected(by: key)
        if states.contains(.isReady), word.lifecycle.contains(.observed) { noteReadiness() }
        return states
    }

    /// The system has announced a property: states of the subclass that depend on it count as announced (rule A1).
    final func announcedDependents(of property: ObservedProperty) {
        guard !isPlainBlock else { return }
        announced(dependentStates(of: property.keys[0]))
    }
}

extension ThreadContext {
    /// Announced by a key path that is not known, and not made yet.
    struct ExpectedFlips {
        let operation: ObjectIdentifier
        let key: PropertyKey
        /// Of flips that had been told.
        var counts: ToldFlips.Counts
        /// Those that were true.
        var states: ObservedProperty
    }
}
