import OperationsPrimitives
import Synchronization

/// A registration of one observer for changes of one property of one object. See the subclasses.
@_spi(Hosting) public class Observation: Identifiable, @unchecked Sendable {
    // Sendable: `number`, `home` and `extras` are set before registration. `isEnded` is atomic, and the rest is constant.
    let property: PropertyDescription
    /// The observers that this observation is registered with, while the object exists. The object itself is not stored here.
    @exclusivity(unchecked) private var home = Home.none
    @exclusivity(unchecked) fileprivate(set) var number: UInt64 = 0
    @exclusivity(unchecked) private var extras: Extras?
    private let optionBits: UInt8
    private let isEnded = Atomic(false)

    /// The state of observations that need more than a call after each change. Separate, so that the notifying thread reads
    /// less memory of the other observations.
    private final class Extras {
        /// A function to call when the object is deallocated. Guarded by the observers' lock.
        @exclusivity(unchecked) var atEnd: (@Sendable () -> Void)?
        /// Changes that wait until the observation has begun, see `beginsHeld`; nil afterwards. Guarded by the observers' lock.
        @exclusivity(unchecked) var held: Ring<Change>?
        /// The nested paths whose changes may change this property. Constant after registration.
        @exclusivity(unchecked) var watches: [PathWatch] = []
        /// The number of calls before a change whose call after the change is not recorded yet. Guarded by the observers' lock.
        @exclusivity(unchecked) var openPriors = 0
        /// See `Observation.last`.
        @exclusivity(unchecked) var last: LastValue?
    }

    init(_ property: PropertyDescription, _ options: NSKeyValueObservingOptions = []) {
        self.property = property
        optionBits = UInt8(truncatingIfNeeded: options.rawValue)
        if beginsHeld || options.contains(.prior) { extras = Extras() }
        if beginsHeld { extras?.held = Ring() }
    }

    package final var options: NSKeyValueObservingOptions { NSKeyValueObservingOptions(rawValue: UInt(optionBits)) }

    final var key: PropertyKey { property.key }
    /// Whether changes of other properties may change this property.
    package final var dependsOnOthers: Bool { property.dependsOnOthers }
    package final var tag: UInt16 { property.tag }

    final func read(_ object: AnyObject) -> Any? { property.read(object) }

    /// Calls the observer.
    func notify(_ object: AnyObject, _ change: Change) {}

    /// Calls the observer with a change without values. The observation is valid, and filters no changes.
    func notifyPlainly(_ object: AnyObject) { notify(object, Change(key)) }

    /// Calls the observer if the observation is valid.
    final func pass(_ change: Change, of object: AnyObject) {
        guard isValid else { return }
        // A change that is returned would be copied.
        guard keepsLast else { return notify(object, change) }
        if let change = completed(change, of: object) { notify(object, change) }
    }

    /// Completes a change, and keeps its value; nil if the observer is not called. Called only if the observation `keepsLast`.
    func completed(_ change: Change, of object: AnyObject) -> Change? {
        var change = change
        if change.isIndirect, change.old == nil { change.old = last }
        // The change of a collection has only the elements concerned.
        if !change.isPrior { keep(change.kind == .setting ? change.new : read(object), of: object) }
        return change
    }

    /// The value after the last change that was passed on, or at the beginning; nil unless the observation `keepsLast`, and nil
    /// for a deallocated object.
    ///
    /// Set while changes are held back. Afterwards only the notifying thread uses it.
    final var last: Any? { extras?.last?.known }

    private final func keep(_ value: Any?, of object: AnyObject) {
        extras?.last = LastValue(value) { read(object) }
    }

    /// Whether the last value is kept, as the old value of a change that is known only after it was made.
    var keepsLast: Bool { dependsOnOthers && options.contains(.old) }

    /// Whether the observation needs the value after a change.
    final var needsNew: Bool { keepsLast || options.contains(.new) }

    /// Whether this is an observation of the property with this tag that takes one call without a value for each change.
    @inline(__always)
    final func isPlain(ofTag tag: UInt16) -> Bool {
        property.tag == tag && !isHeld && options.isDisjoint(with: [.old, .new, .prior])
    }

    /// Whether the observation needs any value of the property. An internal observation may be unable to read the value.
    final var needsValue: Bool { needsNew || options.contains(.old) }

    /// The observer by name and its path; nil for other observations. Called under a lock.
    var registrant: Registrant? { nil }

    /// Whether the observer is deallocated. Called without a lock.
    var isAbandoned: Bool { false }

    /// Whether changes have to wait for the steps after registration, such as the first call for `.initial`.
    final var beginsHeld: Bool { keepsLast || options.contains(.initial) }

    /// Whether changes are held back. Called under the observers' lock.
    @inline(__always)
    final var isHeld: Bool { extras?.held != nil }

    /// Holds a change back, if changes are held back. Called under the observers' lock.
    final func hold(_ change: Change) { extras?.held?.append(change) }

    /// Returns the next change that was held back; nil ends the holding. Called under the observers' lock.
    final func nextHeld() -> Change? {
        let next = extras?.held?.popFirst()
        if next == nil { extras?.held = nil }
        return next
    }

    /// Called after registration, while changes are held back.
    ///
    /// A value that is read before registration could differ from the first value that the observer receives.
    final func hasBegun(on object: AnyObject) { if keepsLast { keep(read(object), of: object) } }

    /// The number of calls before a change whose call after the change is not recorded yet. Guarded by the observers' lock.
    /// Always 0 without the option `prior`.
    final var openPriors: Int {
        get { extras?.openPriors ?? 0 }
        set { extras?.openPriors = newValue }
    }

    /// Begins to watch the nested paths whose changes may change the property. Called before registration.
    final func watchWhatAffectsIt(from object: some KeyValueObservable) {
        guard dependsOnOthers, property.affectedBy.contains(where: { $0.contains(".") }) else { return }
        PathWatch.begin(makeWatches(in: WatchTree()), on: object)
    }

    /// Makes the watches of the nested paths whose changes may change the property. Called before registration. The caller
    /// begins them.
    final func makeWatches(in tree: WatchTree) -> [PathWatch] {
        guard dependsOnOthers else { return [] }
        let paths = property.affectedBy.filter { $0.contains(".") }
        guard !paths.isEmpty else { return [] }
        let extras = extras ?? Extras()
        self.extras = extras
        extras.watches = paths.map { PathWatch($0.split(separator: ".").map(String.init), for: self, in: tree) }
        return extras.watches
    }

    private final func endWatches() { if let extras { PathWatch.end(extras.watches) } }

    /// Ends the observation after the object's deallocation.
    final func objectIsGone() {
        endWatches()
        // The value may be an object that keeps this observation.
        extras?.last = nil
        takeEnd()?()
    }

    /// Removes and returns the function to call when the object is deallocated. Without observers, no other thread removes it.
    private final func takeEnd() -> (@Sendable () -> Void)? {
        guard let extras else { return nil }
        guard let observers else { return extras.atEnd.take() }
        var end: (@Sendable () -> Void)?
        observers.step { _ in end = extras.atEnd.take() }
        return end
    }

    final var isValid: Bool { !isEnded.load(ordering: .acquiring) }

    /// Ends the observation. This thread makes no further calls. A call that another thread is making at this moment continues.
    final func invalidate() {
        let watches = detach()
        if !watches.isEmpty { PathWatch.end(watches) }
    }

    /// Ends the observation, except for its watches, which the caller ends.
    ///
    /// - Returns: The watches; an empty array also if the observation has already ended.
    final func detach() -> [PathWatch] {
        guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return [] }
        var end: (@Sendable () -> Void)?
        observers?.step { state in
            state.remove(self)
            end = extras?.atEnd.take()
        }
        _ = consume end
        return extras?.watches ?? []
    }

    /// Ends an observation that the observers have already removed.
    final func wasRemoved() {
        isEnded.store(true, ordering: .releasing)
        endWatches()
    }

    /// A reference to the observers.
    ///
    /// A weak reference costs an allocation and makes reference counting of the object slower. The reference is therefore
    /// strong if the observers release their observations when the object is deallocated.
    private enum Home {
        case none
        case strong(KeyValueRegistrar)
        case weak(WeakHome)
    }

    private final class WeakHome {
        weak var observers: KeyValueRegistrar?
        init(_ observers: KeyValueRegistrar) { self.observers = observers }
    }

    final func settle(in observers: KeyValueRegistrar) {
        home = observers.letsGoAtEnd ? .strong(observers) : .weak(WeakHome(observers))
    }

    final var observers: KeyValueRegistrar? {
        switch home {
        case .none: nil
        case .strong(let observers): observers
        case .weak(let home): home.observers
        }
    }

    /// Calls a function when the object is deallocated, or at once if it already is. The options contain `initial`.
    final func whenObjectIsGone(_ body: @escaping @Sendable () -> Void) {
        guard let observers else { return body() }
        observers.step { _ in extras.unsafelyUnwrapped.atEnd = body }
    }

    package final func concerns(_ changed: PropertyKey) -> Bool {
        if property.key == changed { return true }
        return dependsOnOthers && property.dependsOn(changed)
    }
}

extension ObserverState {
    /// - Returns: Whether it is time to look for deallocated observers.
    @discardableResult
    mutating func add(_ observation: Observation) -> Bool {
        registrations += 1
        observation.number = registrations
        let mustSweep = mustSweep
        observations.append(observation)
        enter(observation)
        return mustSweep
    }

    private var mustSweep: Bool { observations.count >= sweepLimit }

    /// Returns the observations if it is time to look for deallocated observers among them. Amortized O(1).
    mutating func observationsToSweep() -> RemovableList<Observation>? {
        guard mustSweep else { return nil }
        // This thread sweeps now. Its call of `remove` sets the next limit.
        sweepLimit = .max
        return observations
    }

    mutating func remove(_ abandoned: Set<ObjectIdentifier>) {
        if !abandoned.isEmpty {
            observations.removeAll { abandoned.contains($0.id) }
            if registered != nil { registered = nil }
        }
        sweepLimit = max(64, observations.count * 2)
    }

    /// O(1) in the mean, however many observations there are.
    mutating func remove(_ observation: Observation) {
        observations.remove(observation.id)
        guard registered != nil, let registrant = observation.registrant else { return }
        registered?[registrant]?.remove(observation.id)
        if registered?[registrant]?.isEmpty ?? false { registered?[registrant] = nil }
    }

    /// Returns the last observation of an observer by name. O(1) in the mean, however many observers there are.
    mutating func last(of registrant: Registrant, where isMeant: (Observation) -> Bool) -> Observation? {
        guard observations.count > RemovableList<Observation>.few else {
            if registered != nil { registered = nil }
            return observations.last { $0.registrant == registrant && isMeant($0) }
        }
        if registered == nil {
            registered = [:]
            observations.forEach { enter($0) }
        }
        return registered?[registrant]?.last(where: isMeant)
    }

    private mutating func enter(_ observation: Observation) {
        guard registered != nil, let registrant = observation.registrant else { return }
        registered?[registrant, default: RemovableList()].append(observation)
    }
}
