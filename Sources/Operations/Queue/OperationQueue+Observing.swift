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

    /// The observers, if the queue ever had an observer.
    final var observers: QueueObservers? { observersReference.load() }

    /// Ends the observations. Called by `deinit`: no thread has a reference any more.
    final func abandonObservers() {
        guard observers != nil else { return }
        var gone = state.withLock { $0.observers.take() }
        gone.objectIsGone()
    }

    /// Exchanges the value of a property under the lock, and notifies observers. nil: nothing has changed.
    ///
    /// - Returns: The levels of the operations that could start.
    final func exchange<Value>(
        _ name: String, _ exchange: (inout State) -> (old: Value, new: Value)?
    ) -> ServiceLevels {
        let key = PropertyKey.name(name)
        var announcement = observers?.willChange([key], of: self) ?? Announcement()
        // Released without the lock.
        let (values, mustNotify, startable) = withState { state in
            guard let values = exchange(&state) else { return ((old: Value, new: Value)?.none, false, ServiceLevels()) }
            let mustNotify =
                (!state.observers.isEmpty || !announcement.isEmpty)
                && state.observers.noteExchange(&announcement, Change(key, old: values.old, new: values.new))
            return (values, mustNotify, startableLevels(&state))
        }
        if values == nil {
            observers?.didNotChange(announcement, of: self)
        } else if mustNotify || !announcement.isEmpty {
            observers?.didExchange(announcement, key, mustNotify: mustNotify, of: self)
        }
        return startable
    }

    /// Notifies observers of the changes that this thread has recorded under the lock.
    final func notify(_ news: [PropertyKey]) {
        HeldLocks.assertNone()
        for key in news {
            observers?.notify(key, of: self)
            observers?.notifyDependents(of: key, of: self)
        }
    }
}

extension OperationQueue.State {
    /// Records that an operation has joined. O(observers); O(n) once, when an observer begins to request values.
    mutating func noteJoined(_ operation: Operation) {
        let count = schedule.operationCount
        noteMembers(operation, joins: true, old: count - 1, new: count)
    }

    /// Records that an operation leaves, under the same lock as the departure. O(observers).
    mutating func noteLeaving(_ operation: Operation) {
        let count = schedule.operationCount
        noteMembers(operation, joins: false, old: count, new: count - 1)
    }

    private mutating func noteMembers(_ operation: Operation, joins: Bool, old: Int, new: Int) {
        let key = PropertyKey.name("operations")
        if memberList != nil, !observers.needsValues(key) { dropMemberList() }
        guard !observers.isEmpty else { return }
        note(Change(.name("operationCount"), old: old, new: new))
        guard observers.isObserved(key) else { return }
        guard observers.needsValues(key) else { return note(Change(key)) }
        let list = memberList ?? MemberList(of: joins ? arrivals.filter { $0.operation !== operation } : arrivals)
        memberList = list
        note(Change(key, late: MemberChange(of: list, operation, arrival: arrival(of: operation), joins: joins)))
    }

    /// Drops the list, because no observer requests values any more. The list is released without the lock, because it
    /// may be the last to hold its operations.
    private mutating func dropMemberList() {
        ownErrands().dropped = memberList
        memberList = nil
    }

    private mutating func note(_ change: Change) {
        if observers.note(change) || observers.hasDependents(of: change.key) {
            ownErrands().news.append(change.key)
        }
    }
}
