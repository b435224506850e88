import KeyValueObserving

/// The states of a class that depend on other properties, by `keyPathsForValuesAffectingValue(forKey:)` (rule A1).
///
/// An announcement of such a property counts as an announcement of the states. There is one object for each class.
final class DependentStates: Sendable {
    private let byName: [String: ObservedProperty]
    /// The states that depend on a property whose name the class has not registered. A key path contains no readable
    /// name, so an unregistered key path may mean any of these properties.
    private let byUnregistered: ObservedProperty
    /// The states that depend on properties of other objects, by paths of names.
    fileprivate let byPath: [String: ObservedProperty]

    private init(of type: Operation.Type) {
        var byName: [String: ObservedProperty] = [:]
        var byUnregistered: ObservedProperty = []
        for state in [ObservedProperty.isFinished, .isReady, .isCancelled, .isExecuting, .queuePriority] {
            guard case .name(let key) = state.keys[0] else { continue }
            for name in type.namesAffecting(key) {
                byName[name, default: []].formUnion(state)
                if !type.isRegistered(name) { byUnregistered.formUnion(state) }
            }
        }
        byPath = byName.filter { $0.key.contains(".") }
        self.byName = byName
        self.byUnregistered = byUnregistered
    }

    /// Returns the states that may change with this property. O(1).
    func affected(by key: PropertyKey) -> ObservedProperty {
        switch key {
        case .name(let name): byName.isEmpty ? [] : byName[name] ?? []
        case .path: byUnregistered
        }
    }

    // MARK: - One for each class

    static func of(_ type: Operation.Type) -> DependentStates {
        if let recent = recent(of: type) { return recent.takeUnretainedValue() }
        let id = ObjectIdentifier(type)
        // The class is user code. It runs without the lock, so at worst it runs twice.
        let states = known.withLock({ $0[id] }) ?? remember(DependentStates(of: type), for: id)
        ThreadContext.current.dependentStates = (type, .passUnretained(states))
        return states
    }

    /// The object that this thread used last, if it is the one of the class. Objects are never released.
    @inline(__always)
    fileprivate static func recent(of type: Operation.Type) -> Unmanaged<DependentStates>? {
        ThreadContext.withCurrent { context in
            guard let recent = context.dependentStates, recent.type == type else { return nil }
            return recent.states
        }
    }

    private static func remember(_ new: DependentStates, for type: ObjectIdentifier) -> DependentStates {
        known.withLock { states in
            let first = states[type] ?? new
            states[type] = first
            return first
        }
    }

    private static let known = Locked<[ObjectIdentifier: DependentStates]>([:])
}

extension Operation {
    /// Starts to observe properties of other objects on which states depend by paths of names. A change of such a
    /// property then counts as an announcement of the states. Called before any waiter reads the states.
    final func followPaths() {
        guard !isPlainBlock else { return }
        let type = type(of: self)
        let recent = DependentStates.recent(of: type)
        if recent?._withUnsafeGuaranteedRef({ $0.byPath.isEmpty }) == true { return }
        let states = DependentStates.of(type)
        guard !states.byPath.isEmpty else { return }
        let new = PathFollower(states)
        let isFirst = ownAttachments.withExtras { extras in
            guard extras.pathFollower == nil else { return false }
            extras.pathFollower = new
            return true
        }
        guard isFirst else { return }
        for path in states.byPath.keys.sorted() { addObserver(new, forKeyPath: path, context: nil) }
        // Changes before this moment were not observed.
        announced(states.byPath.values.reduce([]) { $0.union($1) })
    }
}

/// An observer of paths of names, for the queue, the dependents and the waiters of an operation. The operation keeps it.
final class PathFollower: KeyValueObserver, Sendable {
    private let states: DependentStates

    init(_ states: DependentStates) { self.states = states }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        guard let keyPath, let properties = states.byPath[keyPath] else { return }
        (object as? Operation)?.announced(properties)
    }
}
