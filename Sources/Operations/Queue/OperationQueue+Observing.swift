@_spi(Hosting) public import KeyValueObserving
import SchedulerCore

// Observing queues (rule K1): the observable properties, and how their changes are recorded and reported.

extension KeyValueObservable where Self: OperationQueue {
    /// The observable properties of every queue, and the properties that its class adds.
    public static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("maxConcurrentOperationCount", \Self.maxConcurrentOperationCount),
            KeyValueKey("isSuspended", aliases: ["suspended"], \Self.isSuspended),
            KeyValueKey("name", \Self.name),
            KeyValueKey("qualityOfService", \Self.qualityOfService),
        ] + (namer?.snapshotKeys ?? []) + (contributor?.contributedKeys ?? []) + additionalKeyValueKeys
    }

    /// Another module of this package that gives queues more properties, if the program contains that module.
    private static var contributor: (any ContributedKeys.Type)? { (Self.self as Any) as? any ContributedKeys.Type }

    /// Looked up at run time, because the compiler warns about each use of a deprecated property.
    private static var namer: (any SnapshotKeys.Type)? { (Self.self as Any) as? any SnapshotKeys.Type }
}

/// A type that names properties of queues from another module: `progress`.
package protocol ContributedKeys: KeyValueObservable { static var contributedKeys: [KeyValueKey] { get } }

/// A type that names the deprecated properties without a warning.
protocol SnapshotKeys: KeyValueObservable { static var snapshotKeys: [KeyValueKey] { get } }

extension SnapshotKeys where Self: OperationQueue {
    @available(*, deprecated)
    static var snapshotKeys: [KeyValueKey] {
        [KeyValueKey("operations", \Self.operations), KeyValueKey("operationCount", \Self.operationCount)]
    }
}

@available(*, deprecated)
extension OperationQueue: SnapshotKeys {}

/// The observers of a queue. The queue's lock guards them.
final class QueueObservers: KeyValueRegistrar, @unchecked Sendable {
    // Sendable: a constant.
    private let state: Locked<OperationQueue.State>

    init(_ state: Locked<OperationQueue.State>) {
        self.state = state
        super.init(keptElsewhere: ())
    }

    override func step(_ body: (inout ObserverState) -> Void) { state.withLock { body(&$0.observers) } }
}

extension OperationQueue {
    /// Records that a property is about to be read, for the code that tracks reads of this thread (rule K8).
    @inline(__always)
    final func noteRead<Value>(_ path: @autoclosure () -> KeyPath<OperationQueue, Value>) {
        if Tracking.mayConcern(observers) { track(path()) }
    }

    final func beginObserving() -> QueueObservers {
        // Before the observers can be seen: changes of members are recorded from here on.
        withState { state in _ = state.policy(orNew: MemberObserving()) }
        return observersReference.storeIfNil(QueueObservers(state))
    }

    /// The observers, if the queue ever had an observer.
    final var observers: QueueObservers? { observersReference.load() }

    /// Ends the observations. Called by `deinit`: no thread has a reference any more.
    final func abandonObservers() {
        guard observers != nil else { return }
        var gone = state.withLock { $0.observers.take() }
        gone.objectIsGone()
    }

    /// Exchanges the value of a property under the lock, and notifies observers. nil: nothing has changed.
    final func exchange<Value>(_ name: String, _ exchange: (inout State) -> (old: Value, new: Value)?) {
        let key = PropertyKey.name(name)
        var announcement = observers?.willChange([key], of: self) ?? Announcement()
        // Released without the lock.
        let (values, mustNotify) = withState { state in
            guard let values = exchange(&state) else { return ((old: Value, new: Value)?.none, false) }
            let mustNotify =
                (!state.observers.isEmpty || !announcement.isEmpty)
                && state.observers.noteExchange(&announcement, Change(key, old: values.old, new: values.new))
            return (values, mustNotify)
        }
        if values == nil {
            observers?.didNotChange(announcement, of: self)
        } else if mustNotify || !announcement.isEmpty {
            observers?.didExchange(announcement, key, mustNotify: mustNotify, of: self)
        }
    }

    /// Notifies observers of the changes that this thread has recorded under the lock.
    fileprivate final func notify(_ keys: [PropertyKey]) {
        HeldLocks.assertNone()
        for key in keys {
            observers?.notify(key, of: self)
            observers?.notifyDependents(of: key, of: self)
        }
    }
}

/// The changes of the members of a queue for the observers of `operations` and `operationCount`. A queue has this policy
/// from its first observer on.
final class MemberObserving: QueuePolicy {
    let rank = QueuePolicyRank.observing
    let coversAll = true
    /// The operations, for observers of `operations` that ask for values; nil while none does.
    private var list: MemberList?
    /// The properties whose observers have to be notified.
    private var changedKeys: [PropertyKey] = []
    /// A list that the thread that notifies releases: it may be the last to hold its operations.
    private var dropped: MemberList?

    var hasList: Bool { list != nil }

    func changed(_ operation: Operation, _ lifecycle: Lifecycle, isNew: Bool, in state: inout OperationQueue.State) {
        guard isNew, !lifecycle.contains(.unlisted) else { return }
        let count = state.machine.schedule.operationCount
        note(operation, joins: true, old: count - 1, new: count, in: &state)
    }

    func leaves(_ operation: Operation, _ lifecycle: Lifecycle, in state: inout OperationQueue.State) {
        guard !lifecycle.contains(.unlisted) else { return }
        let count = state.machine.schedule.operationCount
        note(operation, joins: false, old: count, new: count - 1, in: &state)
    }

    /// Records a change of the members. O(observers); O(n) once, when an observer begins to request values.
    private func note(
        _ operation: Operation, joins: Bool, old: Int, new: Int, in state: inout OperationQueue.State
    ) {
        let key = PropertyKey.name("operations")
        if list != nil, !state.observers.needsValues(key) { swap(&dropped, &list) }
        guard !state.observers.isEmpty else { return }
        note(Change(.name("operationCount"), old: old, new: new), in: &state)
        guard state.observers.isObserved(key) else { return }
        guard state.observers.needsValues(key) else { return note(Change(key), in: &state) }
        let list = list ?? MemberList(of: joins ? state.arrivals.filter { $0.operation !== operation } : state.arrivals)
        self.list = list
        let change = MemberChange(of: list, operation, joins: joins)
        note(Change(key, late: change), in: &state)
    }

    private func note(_ change: Change, in state: inout OperationQueue.State) {
        if state.observers.note(change) || state.observers.hasDependents(of: change.key) {
            changedKeys.append(change.key)
        }
    }

    func takeAction(in state: inout OperationQueue.State) -> PolicyAction? {
        guard !changedKeys.isEmpty || dropped != nil else { return nil }
        let (keys, released) = (changedKeys, dropped)
        changedKeys = []
        dropped = nil
        return { queue in
            withExtendedLifetime(released) {}
            queue.notify(keys)
        }
    }
}
