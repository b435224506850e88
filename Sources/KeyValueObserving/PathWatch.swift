/// A watch that observes every object on a path of names, such as `owner.name`, on behalf of an observation.
///
/// When a property on the path changes, the watch moves to the objects that are on the path then. One thread at a time moves
/// the watch and notifies the observation. A change during that time makes the thread repeat both steps. The watch notifies
/// only after a change, so the call before the change comes directly before the call after it.
///
/// A property on the path may depend on paths too, and so on, over any number of objects. One loop therefore takes the steps of
/// all watches, without recursion. A property that depends on itself through other objects is watched once.
final class PathWatch: @unchecked Sendable {
    // Sendable: `levels` and `start` belong to the thread that set `isRunning`. `root` is set before the first step. The lock of
    // the tree guards `isRunning`, `changes` and `isEnded`.
    private let names: [String]
    /// Weak: the observation may be released while another thread follows the path.
    private weak let observation: Observation?
    private let tree: WatchTree
    private weak var root: (any KeyValueObservable)?
    /// The entry in the tree, from the beginning to the end of the watch.
    private var start: WatchTree.Source?
    private var levels: [Level?] = []

    private var changes = 0
    private var isRunning = false
    private var isEnded = false

    /// One property on the path.
    private struct Level {
        weak var object: (any KeyValueObservable)?
        /// nil: the path leads back to a property whose observation depends on this watch. That observation notifies.
        let observation: LevelObservation?
    }

    /// A piece of the work of a watch. The steps of a deeper path come before the next step of the path that depends on it.
    private enum Step {
        /// The watch follows its path, or leaves it if the watch has ended.
        case pass(PathWatch)
        /// The watch watches one property on the path, and the properties behind it.
        case follow(PathWatch, index: Int, (any KeyValueObservable)?)
        /// The watch registers an observation whose own watches have begun, and follows the path from there.
        case register(PathWatch, index: Int, LevelObservation, any KeyValueObservable)
        /// The watch notifies its observation.
        case notify(PathWatch)
        /// The watch begins another pass if there was a change meanwhile.
        case settle(PathWatch, wasEnded: Bool)
        /// The values of a change are kept until the watches that the change concerns have notified.
        case keep([Change])
    }

    init(_ names: [String], for observation: Observation, in tree: WatchTree) {
        self.names = names
        self.observation = observation
        self.tree = tree
    }

    // MARK: - Beginning, changing and ending

    /// Begins to watch the paths of an observation. Called before the observation is registered.
    static func begin(_ watches: [PathWatch], on root: any KeyValueObservable) {
        var steps: [Step] = []
        begin(watches, on: root, &steps)
        take(&steps)
    }

    private static func begin(_ watches: [PathWatch], on root: any KeyValueObservable, _ steps: inout [Step]) {
        for watch in watches.reversed() {
            watch.root = root
            watch.levels = watch.names.map { _ in nil }
            watch.isRunning = true
            if let property = watch.observation?.key {
                let start = WatchTree.Source(object: ObjectIdentifier(root), property: property)
                watch.tree.watchBegins(at: start)
                watch.start = start
            }
            steps.append(.pass(watch))
        }
    }

    static func end(_ watches: [PathWatch]) {
        var steps: [Step] = []
        end(watches, &steps)
        take(&steps)
    }

    private static func end(_ watches: [PathWatch], _ steps: inout [Step]) {
        for watch in watches.reversed() { watch.enter(&steps) { watch.isEnded = true } }
    }

    /// Notes that properties on the path have changed.
    private func change(_ count: Int, _ steps: inout [Step]) { enter(&steps) { changes += count } }

    /// Makes a note under the lock. The thread that is taking the steps of the watch sees the note; without such a thread, the
    /// calling thread takes them.
    private func enter(_ steps: inout [Step], _ note: () -> Void) {
        let isFirst = tree.withLock {
            note()
            defer { isRunning = true }
            return !isRunning
        }
        if isFirst { steps.append(.pass(self)) }
    }

    // MARK: - Steps

    /// Takes steps until none is left. The steps that a step adds come next.
    private static func take(_ steps: inout [Step]) {
        while let step = steps.popLast() {
            switch step {
            case .pass(let watch): watch.pass(&steps)
            case .follow(let watch, let index, let object): watch.follow(index, object, &steps)
            case .register(let watch, let index, let level, let object):
                object.keyValueRegistrar.add(level, of: object)
                watch.readOn(index, object, &steps)
            case .notify(let watch): watch.notify(&steps)
            case .settle(let watch, let wasEnded): watch.settle(wasEnded, &steps)
            case .keep: break
            }
        }
    }

    private func pass(_ steps: inout [Step]) {
        let (isEnded, mustNotify) = tree.withLock {
            defer { changes = max(changes - 1, 0) }
            return (self.isEnded, changes > 0)
        }
        steps.append(.settle(self, wasEnded: isEnded))
        if isEnded { return leave(&steps) }
        guard let root, observation != nil else { return }
        if mustNotify { steps.append(.notify(self)) }
        steps.append(.follow(self, index: 0, root))
    }

    private func settle(_ wasEnded: Bool, _ steps: inout [Step]) {
        let isDone = tree.withLock {
            // The watch ended during the pass, so the new levels must be removed.
            isRunning = changes > 0 || isEnded != wasEnded
            return !isRunning
        }
        if !isDone { steps.append(.pass(self)) }
    }

    private func leave(_ steps: inout [Step]) {
        if let start { tree.watchEnds(at: start) }
        start = nil
        for level in levels { Self.end(level?.observation?.detach() ?? [], &steps) }
        levels = []
    }

    private func follow(_ index: Int, _ object: (any KeyValueObservable)?, _ steps: inout [Step]) {
        guard levels[index]?.object !== object else { return readOn(index, object, &steps) }
        let watchesToEnd = levels[index]?.observation?.detach() ?? []
        levels[index] = object.map { Level(object: $0, observation: observe(names[index], of: $0)) }
        if let object, let level = levels[index]?.observation {
            steps.append(.register(self, index: index, level, object))
            Self.begin(level.makeWatches(in: tree), on: object, &steps)
        } else {
            readOn(index, object, &steps)
        }
        Self.end(watchesToEnd, &steps)
    }

    /// Follows the path from a property that is watched. The read comes after the registration, so a later change starts another
    /// pass.
    private func readOn(_ index: Int, _ object: (any KeyValueObservable)?, _ steps: inout [Step]) {
        guard index + 1 < names.count else { return }
        let next = object.flatMap { KeyTable.of(type(of: $0)).key(named: names[index])?.child(of: $0) }
        steps.append(.follow(self, index: index + 1, next))
    }

    private func notify(_ steps: inout [Step]) {
        guard let root, let observation, observation.isValid else { return }
        guard let level = observation as? LevelObservation else {
            return root.keyValueRegistrar.notifyIndirectly(observation, of: root)
        }
        let thread = ObservingThread.current
        let outer = thread.level
        thread.level = (ObjectIdentifier(level), [])
        root.keyValueRegistrar.notifyIndirectly(level, of: root)
        let changes = thread.level?.changes ?? []
        thread.level = outer
        guard !changes.isEmpty, let watch = level.watch else { return }
        steps.append(.keep(changes))
        watch.change(changes.count, &steps)
    }

    // MARK: - Levels

    /// Returns an observation of a property; nil if this watch already serves an observation of the property.
    private func observe(_ name: String, of object: some KeyValueObservable) -> LevelObservation? {
        let type = type(of: object)
        let table = KeyTable.of(type)
        let key = table.canonical(name)
        guard let observation, !serves(key, of: object) else { return nil }
        let property = PropertyDescription(
            key, affectedBy: type.namesAffecting(name), read: table.key(named: name)?.read ?? { _ in nil })
        // The observation refers weakly to the old value, which the change keeps alive while the watch notifies.
        return LevelObservation(property, observation.keepsLast ? .old : [], for: self)
    }

    /// Whether the observation of the watch, or an observation that depends on it, is one of this property. O(1) if no watch
    /// of the tree begins at the property, else O(depth).
    private func serves(_ key: PropertyKey, of object: any KeyValueObservable) -> Bool {
        guard tree.hasWatch(at: .init(object: ObjectIdentifier(object), property: key)) else { return false }
        var next: PathWatch? = self
        while let watch = next, let observation = watch.observation {
            if watch.root === object, observation.key == key { return true }
            next = (observation as? LevelObservation)?.watch
        }
        return false
    }

    private final class LevelObservation: Observation, @unchecked Sendable {
        // Sendable: a constant.
        private(set) weak var watch: PathWatch?

        init(_ property: PropertyDescription, _ options: NSKeyValueObservingOptions, for watch: PathWatch) {
            self.watch = watch
            super.init(property, options)
        }

        override func notify(_ object: AnyObject, _ change: Change) {
            let thread = ObservingThread.current
            // A watch on this thread notifies the observation, and takes the next step itself.
            if thread.level?.id == ObjectIdentifier(self) {
                thread.level?.changes.append(change)
                return
            }
            withExtendedLifetime(change) {
                var steps: [Step] = []
                watch?.change(1, &steps)
                PathWatch.take(&steps)
            }
        }
    }
}
