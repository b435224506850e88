import Synchronization

/// Somebody who wants to be told of changes of one property of one object. See the subclasses.
@_spi(Hosting) public class Observation: @unchecked Sendable {
    // Sendable: `number`, `home` and `watches` are set before it is registered; `isEnded` is atomic; the rest is constant.
    let property: PropertyDescription
    package let options: NSKeyValueObservingOptions
    /// Where it is registered, while the object is there. The object itself is not known here.
    @exclusivity(unchecked) private var home = Home.none
    @exclusivity(unchecked) fileprivate(set) var number: UInt64 = 0
    /// What the one who observes wants done when the object is gone. Under the observers' lock.
    @exclusivity(unchecked) var atEnd: (@Sendable () -> Void)?
    /// Changes that have to wait until the observation has begun, see `beginsHeld`; nil when it has. Under the observers'
    /// lock.
    @exclusivity(unchecked) var held: FirstInFirstOut<Change>?
    /// The nested paths whose changes may change this property.
    @exclusivity(unchecked) var watches: [PathWatch] = []
    /// Calls before a change whose counterpart has not been noted yet. Under the observers' lock.
    @exclusivity(unchecked) var openPriors = 0
    private let isEnded = Atomic(false)

    init(_ property: PropertyDescription, _ options: NSKeyValueObservingOptions = []) {
        self.property = property
        self.options = options
        if beginsHeld { held = FirstInFirstOut() }
    }

    final var key: PropertyKey { property.key }
    /// Changes of other properties may change this one.
    package final var dependsOnOthers: Bool { !property.affectedBy.isEmpty || property.unregisteredPath != nil }
    package final var tag: UInt16 { property.tag }

    final func read(_ object: AnyObject) -> Any? { property.read(object) }

    /// Calls the observer.
    func tell(_ object: AnyObject, _ change: Change) {}

    /// Calls the observer, unless it is no more, or has nothing to be told.
    func pass(_ change: Change, of object: AnyObject) { if isValid { tell(object, change) } }

    /// Whether the value after a change has to be read.
    var needsNew: Bool { options.contains(.new) }

    /// Whether the value has to be read at all. Who observes on behalf of others does not, and may not be able to.
    final var needsValue: Bool { needsNew || options.contains(.old) }

    /// Whether its observer is gone. Asked without a lock.
    var isAbandoned: Bool { false }

    /// Changes have to wait for what is done once it is registered: the first call, for `.initial`.
    var beginsHeld: Bool { options.contains(.initial) }

    /// Called when it is registered, while changes are held back.
    func hasBegun(on object: AnyObject) {}

    /// Begins to watch the nested paths that may change it.
    final func watchWhatAffectsIt(from object: some KeyValueObservable) {
        if dependsOnOthers {
            for path in property.affectedBy where path.contains(".") {
                watches.append(PathWatch(path.split(separator: ".").map(String.init), for: self))
            }
        }
        for watch in watches { watch.begin(on: object) }
    }

    /// The object is gone.
    final func objectIsGone() {
        for watch in watches { watch.end() }
        atEnd?()
    }

    final var isValid: Bool { !isEnded.load(ordering: .acquiring) }

    /// Nothing more is told on this thread from here on; another thread that is calling the observer at this moment goes on.
    final func invalidate() {
        guard !isEnded.exchange(true, ordering: .acquiringAndReleasing) else { return }
        var end: (@Sendable () -> Void)?
        observers?.step { state in
            state.remove(self)
            end = atEnd.take()
        }
        _ = consume end
        for watch in watches { watch.end() }
    }

    /// `invalidate` for one that its observers have let go of already.
    final func wasRemoved() {
        isEnded.store(true, ordering: .releasing)
        for watch in watches { watch.end() }
    }

    /// A weak reference costs an allocation, and makes counting references to the object slower; so observers that let go
    /// of their observations when the object goes are held as they are.
    private enum Home {
        case none
        case strong(KeyValueObservers)
        case weak(WeakHome)
    }

    private final class WeakHome {
        weak var observers: KeyValueObservers?
        init(_ observers: KeyValueObservers) { self.observers = observers }
    }

    final func settle(in observers: KeyValueObservers) {
        home = observers.letsGoAtEnd ? .strong(observers) : .weak(WeakHome(observers))
    }

    final var observers: KeyValueObservers? {
        switch home {
        case .none: nil
        case .strong(let observers): observers
        case .weak(let home): home.observers
        }
    }

    /// Has something done when the object is gone; at once if it is.
    final func whenObjectIsGone(_ body: @escaping @Sendable () -> Void) {
        guard let observers else { return body() }
        observers.step { _ in atEnd = body }
    }

    package final func concerns(_ changed: PropertyKey) -> Bool {
        if property.key == changed { return true }
        return dependsOnOthers && property.dependsOn(changed)
    }
}

extension ObserverState {
    mutating func add(_ observation: Observation) {
        registrations += 1
        observation.number = registrations
        observations.append(observation)
    }

    /// What was held back while the first call was under way; nil ends the holding.
    mutating func nextHeld(_ observation: Observation) -> Change? {
        guard let next = observation.held?.popFirst() else {
            observation.held = nil
            return nil
        }
        return next
    }

    /// Every so often answers the observations, to find among them those whose observers are gone. O(1) in the mean.
    mutating func observationsToSweep() -> OneOrMore<Observation> {
        guard observations.count >= sweepLimit else { return .none }
        // Until the sweeping has set another one.
        sweepLimit = .max
        return observations
    }

    mutating func remove(_ abandoned: Set<ObjectIdentifier>) {
        if !abandoned.isEmpty { observations = observations.filter { !abandoned.contains(ObjectIdentifier($0)) } }
        sweepLimit = max(64, observations.count * 2)
    }

    mutating func remove(_ observation: Observation) {
        if let index = observations.firstIndex(where: { $0 === observation }) { observations.remove(at: index) }
    }
}
