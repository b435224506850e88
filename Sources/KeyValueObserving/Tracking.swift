import CPlatform
public import Observation
import Synchronization

// Reads and changes of observable objects, told to the Observation framework (rule K8).
//
// The framework keeps to itself whether it tracks what a thread reads, and wants a registrar, two allocations, in every
// object. Here an object has one only for what was once read while somebody tracked. That this is so comes out by a trick:
// a read is first reported to a registrar of the thread's own, with a key path that has an index. Who tracks nothing
// ignores it; who tracks puts it into a set, and so asks the index for its hash.
//
// The framework is made for objects that change on the thread that reads them. It hears of a change only from the end of
// the closure of `withObservationTracking` on: what changes between the read and that end, on another thread, would be
// told to nobody, and the next change may never come. So what is read is reported together with a second key path, whose
// index knows the version of what was read. The set of what is tracked is hashed once more at the end of the closure: if
// the version is another one by then, the change is told again.

extension KeyValueObservable where Self: Observable {
    /// Says that a property is read: whoever tracks it with the Observation framework is told of its next change.
    ///
    /// For properties that announce their changes, in a class that is also `Observable`. The properties of operations and
    /// queues do so themselves; an override that does not call super says it here. Costs some ten nanoseconds when nobody
    /// tracks.
    ///
    /// Changes are told after they are made, `willSet` as well as `didSet`, for the value may be read on another thread as
    /// soon as that is heard.
    public func access<Value>(keyPath: KeyPath<Self, Value>) {
        if Tracking.mayConcern(keyValueObservers) { track(keyPath) }
    }

    /// The same, after `mayConcern` has answered true.
    package func track<Value>(_ path: KeyPath<Self, Value>) {
        let observers = keyValueObservers
        let wasTracked = observers.isTracked.load(ordering: .acquiring)
        if wasTracked, let known = observers.trackedObservation(of: path, in: self) { return known.noteRead(self) }
        guard Tracking.isUnderWay else { return }
        let detector = ObservingThread.current.takeDetector()
        let new = TrackedObservation(path, of: self, detector)
        new.watchWhatAffectsIt(from: self)
        observers.addTracked(new, of: self).noteRead(self)
    }
}

extension KeyValueObservable {
    /// `track`, for who does not know whether the class is `Observable`.
    func trackIfObservable<Value>(_ path: KeyPath<Self, Value>) {
        guard let observable = self as? any KeyValueObservable & Observable else { return }
        observable.track(untyped: path, Value.self)
    }
}

extension KeyValueObservable where Self: Observable {
    fileprivate func track<Value>(untyped path: AnyKeyPath, _ type: Value.Type) {
        if let path = path as? KeyPath<Self, Value> { track(path) }
    }
}

package enum Tracking {
    /// Whether the Observation framework tracks what this thread reads at this moment. Who hears that it does gives the
    /// thread's detector to what was read.
    package static var isUnderWay: Bool {
        let thread = cplatform_this_thread()
        thread.pointee.isTracked = false
        ObservingThread.unmanaged._withUnsafeGuaranteedRef {
            Registrar.access(&$0.detectorAddress.pointee, TrackingSubject(), $0.probe)
        }
        return thread.pointee.isTracked
    }

    /// Whether a read may have to be told. nil: the object has no observers.
    package static func mayConcern(_ observers: KeyValueObservers?) -> Bool {
        if let observers, observers.isTracked.load(ordering: .acquiring) { return true }
        return isUnderWay
    }
}

/// A registrar at an address of its own: calling one that is a property copies it first, at three times the cost.
final class Registrar: @unchecked Sendable {
    // Sendable: a registrar has a lock of its own.
    let address = UnsafeMutablePointer<ObservationRegistrar>.allocate(capacity: 1)

    init() { address.initialize(to: ObservationRegistrar()) }

    deinit {
        address.deinitialize(count: 1)
        address.deallocate()
    }

    func access<Subject: Observable, Value>(_ subject: Subject, _ path: KeyPath<Subject, Value>) {
        Self.access(&address.pointee, subject, path)
    }

    @inline(__always)
    static func access<Subject: Observable, Value>(
        _ registrar: inout ObservationRegistrar, _ subject: Subject, _ path: KeyPath<Subject, Value>
    ) { registrar.access(subject, keyPath: path) }

    func change<Subject: Observable, Value>(_ subject: Subject, _ path: KeyPath<Subject, Value>) {
        let registrar = address.pointee
        registrar.willSet(subject, keyPath: path)
        registrar.didSet(subject, keyPath: path)
    }
}

/// The root of the key paths with an index.
struct TrackingSubject: Observable {
    subscript(probe: TrackingProbe) -> Bool { false }
    subscript(version: TrackedVersion) -> Bool { false }
}

/// Learns that a read is tracked.
struct TrackingProbe: Hashable {
    static var path: KeyPath<TrackingSubject, Bool> { \TrackingSubject.[TrackingProbe()] }

    func hash(into hasher: inout Hasher) { cplatform_this_thread().pointee.isTracked = true }
}

/// Learns when the tracking of a read begins to take effect, and of what version of the property the read was.
struct TrackedVersion: Hashable, Sendable {
    let observation: Unowned
    let version: Int

    var path: KeyPath<TrackingSubject, Bool> { \TrackingSubject.[self] }

    /// Tracking does not keep what is tracked alive.
    final class Unowned: @unchecked Sendable {
        // Sendable: set once, before anybody else has it.
        fileprivate(set) weak var observation: (any VersionedObservation)?
    }

    static func == (a: Self, b: Self) -> Bool { a.observation === b.observation && a.version == b.version }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(observation))
        hasher.combine(version)
        observation.observation?.isTracked(sinceVersion: version)
    }
}

protocol VersionedObservation: AnyObject, Sendable {
    func isTracked(sinceVersion version: Int)
    func informAgain()
}

/// A thread's only task. It is needed seldom; and a pool's threads may all be blocked, by those who wait to be told.
private final class Errand {
    private let observation: any VersionedObservation

    init(_ observation: any VersionedObservation) { self.observation = observation }

    static func run(_ argument: UnsafeMutableRawPointer) {
        Unmanaged<Errand>.fromOpaque(argument).takeRetainedValue().observation.informAgain()
    }
}

/// The Observation framework's interest in one property of one object, from the first read on that somebody tracked.
final class TrackedObservation<Object: KeyValueObservable & Observable, Value>: Observation, VersionedObservation,
    @unchecked Sendable
{
    // Sendable: `losers` is reached under the observers' lock, `version` is atomic, the others are constant.
    private let path: KeyPath<Object, Value>
    fileprivate let registrar: Registrar
    private let unowned = TrackedVersion.Unowned()
    private weak let object: Object?
    /// How many changes have been told.
    private let version = Atomic(0)
    /// The detectors of other threads that came to observe at the same moment. The framework has noted the reads with them
    /// too, and forgets them when they go: that must not be before the closure has ended.
    fileprivate var losers: [Registrar] = []

    init(_ path: KeyPath<Object, Value>, of object: Object, _ registrar: Registrar) {
        self.path = path
        self.registrar = registrar
        self.object = object
        switch Resolution.meaning(of: path, in: KeyTable.of(Object.self), for: type(of: object)) {
        case .property(let property):
            super.init(property)
        case .nested, .unknown:
            super.init(
                PropertyDescription(.path(path), affectedBy: Object.namesAffectingAny(ofType: Value.self)))
        }
        unowned.observation = self
    }

    func noteRead(_ object: Object) {
        let version = version.load(ordering: .sequentiallyConsistent)
        registrar.access(object, path)
        registrar.access(TrackingSubject(), TrackedVersion(observation: unowned, version: version).path)
    }

    override func tell(_ object: AnyObject, _ change: Change) {
        version.add(1, ordering: .sequentiallyConsistent)
        inform(unsafeDowncast(object, to: Object.self))
    }

    private func inform(_ object: Object) {
        let thread = ObservingThread.current
        let outer = thread.informing
        thread.informing = ObjectIdentifier(self)
        registrar.change(object, path)
        thread.informing = outer
    }

    /// Called by the framework, while it holds a lock: so what there is to be told is told by another thread.
    func isTracked(sinceVersion read: Int) {
        guard version.load(ordering: .sequentiallyConsistent) != read else { return }
        // The framework forgets what it is being told of, and hashes it once more for that.
        guard ObservingThread.current.informing != ObjectIdentifier(self) else { return }
        let errand = Unmanaged.passRetained(Errand(self))
        let isStarted = cplatform_start_thread({ Errand.run($0.unsafelyUnwrapped) }, errand.toOpaque())
        if !isStarted { errand.release() }
    }

    func informAgain() { if let object { inform(object) } }
}

extension KeyValueObservers {
    fileprivate final func trackedObservation<Object, Value>(
        of path: KeyPath<Object, Value>, in object: Object
    ) -> TrackedObservation<Object, Value>? {
        let meaning = Resolution.meaning(of: path, in: KeyTable.of(Object.self), for: type(of: object))
        let key = if case .property(let property) = meaning { property.key } else { PropertyKey.path(path) }
        var known: TrackedObservation<Object, Value>?
        step { known = $0.tracked(key) }
        return known
    }

    /// Registers the observation, unless another thread was first; answers the one there is.
    fileprivate final func addTracked<Object, Value>(
        _ new: TrackedObservation<Object, Value>, of object: Object
    ) -> TrackedObservation<Object, Value> {
        isTracked.store(true, ordering: .releasing)
        new.settle(in: self)
        observingBegins(of: object, by: new)
        var known: TrackedObservation<Object, Value>?
        step { state in
            known = state.tracked(new.key)
            if let known { known.keep(new) } else { state.add(new) }
        }
        guard let known else { return new }
        new.objectIsGone()
        return known
    }
}

extension ObserverState {
    fileprivate func tracked<Object, Value>(_ key: PropertyKey) -> TrackedObservation<Object, Value>? {
        var found: TrackedObservation<Object, Value>?
        observations.forEach { if $0.key == key, found == nil { found = $0 as? TrackedObservation<Object, Value> } }
        return found
    }
}

extension TrackedObservation {
    fileprivate func keep(_ loser: TrackedObservation) { losers.append(loser.registrar) }
}
