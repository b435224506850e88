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
        if Value.self == Bool.self, case .path = key { expectFlips(by: key) }
    }

    /// Says that a property has changed. The queue looks at `isFinished`, `isReady`, `isCancelled` and `queuePriority`
    /// then, as overridden.
    public func didChangeValue<Value>(for keyPath: KeyPath<Self, Value>) {
        let key = Self.propertyKey(keyPath)
        didAnnounce(key)
        if Value.self == Bool.self, case .path = key { tellFlips(by: key) }
        announced(ObservedProperty(key) ?? .candidates(Value.self))
    }
}

extension Operation {
    /// Says that a property is about to change: `"isFinished"` and `"finished"` mean the same (rule L7).
    public final func willChangeValue(forKey key: String) { willAnnounce(propertyKey(key)) }

    /// Says that a property has changed. The queue looks at `isFinished`, `isReady`, `isCancelled` and `queuePriority`
    /// then, as overridden.
    public final func didChangeValue(forKey key: String) {
        let property = propertyKey(key)
        didAnnounce(property)
        if let property = ObservedProperty(property) { announced(property) }
    }

    private final func propertyKey(_ name: String) -> PropertyKey {
        ObservedProperty(name: name)?.keys[0] ?? type(of: self).propertyKey(named: name)
    }

    fileprivate final func willAnnounce(_ key: PropertyKey) {
        // What is said of `isReady` is told by `announceReadiness`, in turn with what the system finds out.
        guard word.lifecycle.contains(.observed), key != ObservedProperty.isReady.keys[0] else { return }
        PendingAnnouncements.begin(key, of: self, in: ownAttachments)
    }

    fileprivate final func didAnnounce(_ key: PropertyKey) {
        guard word.lifecycle.contains(.observed) else { return }
        if key == ObservedProperty.isReady.keys[0] { return announceReadiness() }
        PendingAnnouncements.end(key, of: self, in: ownAttachments)
    }

    /// In a final class a key path means the override alone, and equals none that is known. Which of the states it is, their
    /// values tell: whoever observes the state in the terms of another class is to be told too (rule K3).
    fileprivate final func expectFlips(by key: PropertyKey) {
        guard word.lifecycle.contains(.observed) else { return }
        ThreadContext.current.expectedFlips.append(
            .init(operation: ObjectIdentifier(self), key: key, states: statesAsOverridden))
    }

    fileprivate final func tellFlips(by key: PropertyKey) {
        guard word.lifecycle.contains(.observed) else { return }
        let context = ThreadContext.current
        let id = ObjectIdentifier(self)
        if let last = context.expectedFlips.lastIndex(where: { $0.operation == id && $0.key == key }) {
            let before = context.expectedFlips.remove(at: last).states
            // Told with the last of several that change together: by then who observes by such key paths knows of each.
            if let other = context.expectedFlips.firstIndex(where: { $0.operation == id }) {
                if other >= last { context.expectedFlips[other].states = before }
            } else {
                announceLate(before.symmetricDifference(statesAsOverridden))
            }
        }
        announceReadiness()
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

    /// User code says that a property has changed: the flow goes on from what the property, overridden or not, is now.
    final func announced(_ property: ObservedProperty) {
        if property.contains(.isFinished) { finishIfFinished() }
        if !property.isDisjoint(with: [.isReady, .isCancelled]) { reconsiderReadiness() }
        if property.contains(.queuePriority) { reconsiderPriority() }
    }
}

extension ThreadContext {
    /// Announced by a key path that is not known, and not made yet.
    struct ExpectedFlips {
        let operation: ObjectIdentifier
        let key: PropertyKey
        /// Those that were true.
        var states: ObservedProperty
    }
}
