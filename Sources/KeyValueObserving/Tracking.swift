import CPlatform
public import Observation
import Synchronization

// Notifies the Observation framework of reads and changes of observable objects.
//
// The framework does not reveal whether it tracks the reads of a thread, and it expects a registrar (two allocations) in every
// object. Here, an object gets a registrar only for a property that was read while it was tracked. Each read is first reported
// to a registrar of the thread, with a key path that has an index. Without tracking, the framework ignores the key path. With
// tracking, the framework inserts the key path into a set and therefore hashes the index.
//
// The framework expects objects to change on the thread that reads them. It observes changes only from the end of the closure
// of `withObservationTracking`. A change on another thread between the read and that end would be lost, and the next change may
// never come. Each read is therefore reported together with a second key path, whose index has the version of the property. The
// framework hashes its set once more at the end of the closure. If the version has changed by then, the change is reported
// again.

extension KeyValueObservable where Self: Observable {
    /// Reports that a property is read, so that the Observation framework can notify its observers of the next change.
    ///
    /// Call this function in a class that is also `Observable`, for a property that announces its changes. The properties of
    /// operations and queues call it themselves. An override that does not call super must call it. Without tracking, a call
    /// costs some ten nanoseconds.
    ///
    /// Changes are reported after they are made, for `willSet` as well as for `didSet`. An observer may read the value on
    /// another thread as soon as it is notified, and it must find the new value.
    public func access<Value>(keyPath: KeyPath<Self, Value>) {
        if Tracking.mayConcern(keyValueRegistrar) { track(keyPath) }
    }

    /// Reports a read after `mayConcern` has returned true.
    package func track<Value>(_ path: KeyPath<Self, Value>) {
        let observers = keyValueRegistrar
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
    /// Reports a read of an object whose class may not be `Observable`.
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
    /// Whether the Observation framework tracks the reads of this thread at this moment. If so, the caller must give the
    /// thread's detector to the property that was read.
    package static var isUnderWay: Bool {
        let thread = cplatform_this_thread()
        thread.pointee.isTracked = false
        ObservingThread.unmanaged._withUnsafeGuaranteedRef {
            Registrar.access(&$0.detectorAddress.pointee, TrackingSubject(), $0.probe)
        }
        return thread.pointee.isTracked
    }

    /// Whether a read may have to be reported. nil represents an object without observers.
    package static func mayConcern(_ observers: KeyValueRegistrar?) -> Bool {
        if let observers, observers.isTracked.load(ordering: .acquiring) { return true }
        return isUnderWay
    }
}

/// A registrar at a fixed address. A call through a property would copy the registrar first, at three times the cost.
final class Registrar: @unchecked Sendable {
    // Sendable: a registrar has its own lock.
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

/// An index that detects whether a read is tracked.
struct TrackingProbe: Hashable {
    static var path: KeyPath<TrackingSubject, Bool> { \TrackingSubject.[TrackingProbe()] }

    func hash(into hasher: inout Hasher) { cplatform_this_thread().pointee.isTracked = true }
}

/// An index that detects when the tracking of a read takes effect, and that has the version of the property at the read.
struct TrackedVersion: Hashable, Sendable {
    let source: TrackedSource
    let version: Int

    var path: KeyPath<TrackingSubject, Bool> { \TrackingSubject.[self] }

    static func == (a: Self, b: Self) -> Bool { a.source === b.source && a.version == b.version }

    func hash(into hasher: inout Hasher) {
        hasher.combine(ObjectIdentifier(source))
        hasher.combine(version)
        source.isTracked(sinceVersion: version)
    }
}

/// The part of an observation that the Observation framework may keep. Tracking does not keep the observed object alive.
final class TrackedSource: @unchecked Sendable {
    // Sendable: `observation` is set once, before another thread has the object. `version` is atomic.
    fileprivate(set) weak var observation: (any VersionedObservation)?
    /// The number of changes that have been reported.
    fileprivate let version = Atomic(0)
    private let isOver = Atomic(false)

    /// Notes that the observation is being released.
    fileprivate func end() { isOver.store(true, ordering: .relaxed) }

    /// Called by the framework while it holds the lock of the observation's registrar, so another thread makes the report.
    ///
    /// The function takes no reference to the observation. It could be the last one, and its release would free the registrar,
    /// which takes the lock once more.
    func isTracked(sinceVersion read: Int) {
        guard version.load(ordering: .sequentiallyConsistent) != read, !isOver.load(ordering: .relaxed) else { return }
        // The framework removes the observation that is being notified from its set, and hashes it once more to do so.
        guard ObservingThread.current.informing != ObjectIdentifier(self) else { return }
        let errand = Unmanaged.passRetained(Errand(self))
        let isStarted = cplatform_start_thread({ Errand.run($0.unsafelyUnwrapped) }, errand.toOpaque())
        if !isStarted { errand.release() }
    }
}

protocol VersionedObservation: AnyObject, Sendable {
    func informAgain()
}

/// The only task of a new thread. It is rarely needed, and the threads of a pool could all be blocked, waiting for the change.
private final class Errand {
    private let source: TrackedSource

    init(_ source: TrackedSource) { self.source = source }

    static func run(_ argument: UnsafeMutableRawPointer) {
        Unmanaged<Errand>.fromOpaque(argument).takeRetainedValue().source.observation?.informAgain()
    }
}

/// The Observation framework's observation of one property of one object. It begins at the first tracked read.
final class TrackedObservation<Object: KeyValueObservable & Observable, Value>: Observation, VersionedObservation,
    @unchecked Sendable
{
    // Sendable: `losers` is guarded by the observers' lock. The other properties are constant.
    private let path: KeyPath<Object, Value>
    fileprivate let registrar: Registrar
    private let source = TrackedSource()
    private weak let object: Object?
    /// The detectors of other threads that began to observe at the same moment. The framework has recorded reads with them too,
    /// and it forgets the reads when a detector is released. They must therefore live until the closure has ended.
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
        source.observation = self
    }

    deinit { source.end() }

    func noteRead(_ object: Object) {
        let version = source.version.load(ordering: .sequentiallyConsistent)
        registrar.access(object, path)
        registrar.access(TrackingSubject(), TrackedVersion(source: source, version: version).path)
    }

    override func notify(_ object: AnyObject, _ change: Change) {
        source.version.add(1, ordering: .sequentiallyConsistent)
        inform(unsafeDowncast(object, to: Object.self))
    }

    private func inform(_ object: Object) {
        let thread = ObservingThread.current
        let outer = thread.informing
        thread.informing = ObjectIdentifier(source)
        registrar.change(object, path)
        thread.informing = outer
    }

    func informAgain() { if let object { inform(object) } }
}

extension KeyValueRegistrar {
    fileprivate final func trackedObservation<Object, Value>(
        of path: KeyPath<Object, Value>, in object: Object
    ) -> TrackedObservation<Object, Value>? {
        let meaning = Resolution.meaning(of: path, in: KeyTable.of(Object.self), for: type(of: object))
        let key = if case .property(let property) = meaning { property.key } else { PropertyKey.path(path) }
        var known: TrackedObservation<Object, Value>?
        step { known = $0.tracked(key) }
        return known
    }

    /// Registers an observation, or returns the existing one if another thread was first.
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
