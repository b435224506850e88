#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// A watch that observes every object on a path of names, such as `owner.name`, on behalf of an observation.
///
/// When a property on the path changes, the watch moves to the objects that are on the path then. One thread at a time moves
/// the watch and notifies the observation. A change during that time makes the thread repeat both steps. The watch notifies
/// only after a change, so the call before the change comes directly before the call after it.
final class PathWatch: @unchecked Sendable {
    // Sendable: `levels` belongs to the thread that set `isRunning`. `mutex` guards `isRunning`, `changes` and `isEnded`.
    private let names: [String]
    /// Weak: the observation may be released while another thread follows the path.
    private weak let observation: Observation?
    private weak var root: (any KeyValueObservable)?
    private var levels: [Level?] = []

    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private var changes = 0
    private var isRunning = false
    private var isEnded = false

    /// The observation of one property on the path.
    private struct Level {
        weak var object: (any KeyValueObservable)?
        let observation: Observation
    }

    init(_ names: [String], for observation: Observation) {
        self.names = names
        self.observation = observation
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
    }

    /// Begins to watch the path. Called before the observation is registered.
    func begin(on root: any KeyValueObservable) {
        self.root = root
        levels = names.map { _ in nil }
        run(notifying: false)
    }

    func end() {
        withLock { isEnded = true }
        run(notifying: false)
    }

    private func withLock<Result>(_ body: () -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body()
    }

    private func run(notifying: Bool) {
        let isFirst = withLock {
            changes += notifying ? 1 : 0
            defer { isRunning = true }
            return !isRunning
        }
        guard isFirst else { return }
        while true {
            let (isEnded, mustNotify) = withLock {
                defer { changes = max(changes - 1, 0) }
                return (self.isEnded, changes > 0)
            }
            if isEnded { leave() } else { follow(notifying: mustNotify) }
            let isDone = withLock {
                // The watch ended during the pass, so the new levels must be removed.
                isRunning = changes > 0 || self.isEnded != isEnded
                return !isRunning
            }
            if isDone { return }
        }
    }

    private func leave() {
        for level in levels { level?.observation.invalidate() }
        levels = []
    }

    private func follow(notifying: Bool) {
        guard let root, let observation else { return }
        var object: (any KeyValueObservable)? = root
        for (index, name) in names.enumerated() {
            if levels[index]?.object !== object {
                levels[index]?.observation.invalidate()
                levels[index] = object.map { watch(name, of: $0) }
            }
            // The read comes after the registration, so a later change starts another pass.
            object = object.flatMap { KeyTable.of(type(of: $0)).key(named: name)?.child(of: $0) }
        }
        guard notifying, observation.isValid else { return }
        root.keyValueRegistrar.notifyIndirectly(observation, of: root)
    }

    private func watch(_ name: String, of object: some KeyValueObservable) -> Level {
        let type = type(of: object)
        let table = KeyTable.of(type)
        let property = PropertyDescription(
            table.canonical(name), affectedBy: type.namesAffecting(name),
            read: table.key(named: name)?.read ?? { _ in nil })
        // The observation refers weakly to the old value, which the change keeps alive while the watch notifies.
        let options: NSKeyValueObservingOptions = observation?.keepsLast ?? false ? .old : []
        let level = LevelObservation(property, options) { [weak self] in self?.run(notifying: true) }
        object.start(level)
        return Level(object: object, observation: level)
    }

    private final class LevelObservation: Observation, @unchecked Sendable {
        // Sendable: a constant.
        private let changed: @Sendable () -> Void

        init(
            _ property: PropertyDescription, _ options: NSKeyValueObservingOptions,
            _ changed: @escaping @Sendable () -> Void
        ) {
            self.changed = changed
            super.init(property, options)
        }

        override func notify(_ object: AnyObject, _ change: Change) { withExtendedLifetime(change) { changed() } }
    }
}
