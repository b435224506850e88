import CPlatform
public import KeyValueObserving
import SchedulerCore

// Observing operations (section 11 of the rules): the observable properties, and the announcements of subclasses.

extension KeyValueObservable where Self: Operation {
    /// The observable properties of every operation, and the properties that its class adds.
    ///
    /// The key paths have the root type `Self`, because `\MyOperation.isFinished` and `\Operation.isFinished` are
    /// different key paths, and a key path has no name. A literal of a generic type that stands for `MyOperation` equals
    /// the literal of the user.
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

    /// Announces that a property is about to change: `willChangeValue(for: \.isFinished)`.
    public func willChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        let key = Self.propertyKey(keyPath)
        willAnnounce(key)
        expectFlips(by: key, isState: Value.self == Bool.self)
    }

    /// Announces that a property has changed.
    ///
    /// The queue then reads `isFinished`, `isReady`, `isCancelled` and `queuePriority` of the operation, overridden or
    /// not: the property itself and the properties that depend on it.
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        let key = Self.propertyKey(keyPath)
        didAnnounce(key)
        notifyFlips(by: key, isState: Value.self == Bool.self)
        announced(key, candidates: .candidates(Value.self))
    }
}

extension Operation {
    /// Announces that a property is about to change. The keys `"isFinished"` and `"finished"` name the same property.
    public final func willChangeValue(forKey key: String) { willAnnounce(propertyKey(key)) }

    /// Announces that a property has changed.
    ///
    /// The queue then reads `isFinished`, `isReady`, `isCancelled` and `queuePriority` of the operation, overridden or
    /// not: the property itself and the properties that depend on it.
    public final func didChangeValue(forKey key: String) {
        let property = propertyKey(key)
        didAnnounce(property)
        announced(property)
    }

    /// Begins an announcement by code that knows the operation only as some `KeyValueObservable`, such as
    /// `@KeyValueObserved`. That code notifies the observers of the property itself.
    final func willAnnounceGenerically(_ name: String?, _ keyPath: AnyKeyPath?) {
        guard name == nil, let keyPath else { return }
        expectFlips(by: .path(keyPath), isState: type(of: keyPath).valueType == Bool.self)
    }

    /// Ends such an announcement.
    final func didAnnounceGenerically(_ name: String?, _ keyPath: AnyKeyPath?) {
        if let name {
            announced(propertyKey(name))
        } else if let keyPath {
            let valueType = type(of: keyPath).valueType
            notifyFlips(by: .path(keyPath), isState: valueType == Bool.self)
            announced(.path(keyPath), candidates: .candidates(valueType))
        }
    }

    private final func propertyKey(_ name: String) -> PropertyKey {
        ObservedProperty(name: name)?.keys[0] ?? type(of: self).propertyKey(named: name)
    }

    fileprivate final func willAnnounce(_ key: PropertyKey) {
        // `announceReadiness` notifies observers of `isReady`, in turn with the changes that the system makes.
        guard word.lifecycle.contains(.observed), key != ObservedProperty.isReady.keys[0] else { return }
        PendingAnnouncements.begin(key, of: self, in: ownAttachments)
    }

    fileprivate final func didAnnounce(_ key: PropertyKey) {
        guard word.lifecycle.contains(.observed) else { return }
        if key == ObservedProperty.isReady.keys[0] { return announceReadiness() }
        // The observers of the property and of its dependents by name are notified here. `notifyFlips` claims and notifies
        // dependents that have only a key path.
        if case .name = key {
            let states = isPlainBlock ? [] : DependentStates.of(type(of: self)).affected(by: key)
            ownAttachments.notifiedFlips.note(states.union(ObservedProperty(key) ?? []))
        }
        PendingAnnouncements.end(key, of: self, in: ownAttachments)
    }

    /// Whether a key path that no class has registered may change a state.
    ///
    /// In a final class, the key path of a state means the override alone, and equals no known key path. A state may also
    /// depend on a property without a registered name.
    private final func mayFlip(_ key: PropertyKey, isState: Bool) -> Bool {
        guard case .path = key, word.lifecycle.contains(.observed) else { return false }
        return isState || !DependentStates.of(type(of: self)).affected(by: key).isEmpty
    }

    /// Records the states before an announcement by a key path that is not known.
    ///
    /// In a final class such a key path means the override alone. The values of the states show which state has changed.
    /// Observers that use the key path of another class are notified too (rule K3).
    fileprivate final func expectFlips(by key: PropertyKey, isState: Bool) {
        guard mayFlip(key, isState: isState) else { return }
        // The counts are read before the states: a flip between the two reads is then part of the states.
        let counts = ownAttachments.notifiedFlips.current
        ThreadContext.current.expectedFlips.append(
            .init(operation: ObjectIdentifier(self), key: key, counts: counts, states: statesAsOverridden))
    }

    fileprivate final func notifyFlips(by key: PropertyKey, isState: Bool) {
        guard mayFlip(key, isState: isState) else { return }
        // An announcement of a property on which a state depends is one of the state (rule A2).
        let dependents = DependentStates.of(type(of: self)).affected(by: key)
        let announced = dependents.intersection([.isExecuting, .isFinished, .isCancelled])
        let flipped = flipsToAnnounce(by: key)
        if let flipped { announceLate(flipped.states.subtracting(announced), since: flipped.counts) }
        if !announced.isEmpty { announceLate(announced, since: nil) }
        announceReadiness(onlyChanges: !dependents.contains(.isReady))
    }

    /// Returns the states that have flipped since the beginning of the announcement, with the counts from that time. nil: this
    /// announcement does not notify of them.
    private final func flipsToAnnounce(
        by key: PropertyKey
    ) -> (states: ObservedProperty, counts: NotifiedFlips.Counts)? {
        let context = ThreadContext.current
        let id = ObjectIdentifier(self)
        guard let last = context.expectedFlips.lastIndex(where: { $0.operation == id && $0.key == key }) else {
            return nil
        }
        let before = context.expectedFlips.remove(at: last)
        // Of several nested announcements, the last one to end notifies: observers by such key paths know each change by then.
        guard let other = context.expectedFlips.firstIndex(where: { $0.operation == id }) else {
            return (before.states.symmetricDifference(statesAsOverridden), before.counts)
        }
        if other >= last {
            context.expectedFlips[other].counts = before.counts
            context.expectedFlips[other].states = before.states
        }
        return nil
    }

    private final var statesAsOverridden: ObservedProperty {
        untracked {
            var states: ObservedProperty = isExecuting ? .isExecuting : []
            if isFinished { states.insert(.isFinished) }
            if isCancelled { states.insert(.isCancelled) }
            return states
        }
    }

    /// Records that a property is about to be read, for the code that tracks reads of this thread (rule K8).
    @inline(__always)
    final func noteRead<Value>(_ path: @autoclosure () -> KeyPath<Operation, Value>) {
        guard !cplatform_this_thread().pointee.isAsking else { return }
        guard Tracking.mayConcern(attachmentsReference.isSet ? attachments : nil) else { return }
        track(path())
    }

    /// Continues the flow after user code has announced a property.
    ///
    /// The flow reads the property and the states that depend on it, overridden or not.
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

    /// Continues the flow after the system has announced a property: states of the subclass that depend on the property
    /// count as announced (rule A1).
    final func announcedDependents(of property: ObservedProperty) {
        guard !isPlainBlock else { return }
        announced(dependentStates(of: property.keys[0]))
    }
}

extension ThreadContext {
    /// An announcement that has begun, by a key path that is not known.
    struct ExpectedFlips {
        let operation: ObjectIdentifier
        let key: PropertyKey
        /// The numbers of flips that were announced before.
        var counts: NotifiedFlips.Counts
        /// The states that were true.
        var states: ObservedProperty
    }
}
