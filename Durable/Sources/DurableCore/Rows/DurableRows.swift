/// The set of changes of one event. A dialect stores a set with few statements.
public struct Changes: Sendable {
    package var inserted: [OperationRow] = []
    package var updated: [OperationRow] = []
    package var inputs: [OperationID: [UInt8]] = [:]
    package var outputs: [OperationID: [UInt8]] = [:]
    package var edges: [Edge] = []
    package var counters: [Counter: Int64] = [:]
    package var queues: [QueueRow] = []
    package var keys: [KeyRow] = []
    package var uniques: [UniqueRow] = []
    /// Entries of histories. A stored entry at the position keeps its kind and its name, and takes the result.
    package var history: [HistoryEntry] = []
    package var signals: [SignalRow] = []
    package var consumedSignals: [SignalRow] = []
    package var workers: [WorkerRow] = []
    package var removedWorkers: [WorkerID] = []
    package var schedules: [ScheduleRow] = []
    package var removedSchedules: [String] = []
    package var attempts: [AttemptRow] = []
    /// The operations that have more records of attempts than the store keeps, and the number of records to keep.
    package var keptAttempts: [OperationID: Int] = [:]
    package var events: [EventRow] = []
    /// The instant until which the store records events, if it changes.
    package var observedUntil: DurableInstant?

    package init() {}

    /// The new inputs of operations that were added before.
    package var replacedInputs: [OperationID: [UInt8]] {
        guard inputs.count > inserted.count else { return [:] }
        let new = Set(inserted.map(\.id))
        return inputs.filter { !new.contains($0.key) }
    }
}

/// One operation in a lane, with the fields that determine the order of starts.
public struct ReadyEntry: Sendable, Hashable, Comparable {
    package var priority: Int64
    package var readyAt: DurableInstant
    package var id: OperationID

    package init(priority: Int64, readyAt: DurableInstant, id: OperationID) {
        (self.priority, self.readyAt, self.id) = (priority, readyAt, id)
    }

    public static func < (a: Self, b: Self) -> Bool {
        (-a.priority, a.readyAt, a.id) < (-b.priority, b.readyAt, b.id)
    }
}

/// The largest number of operations of one key.
public struct KeyShare: Sendable, Hashable {
    package var name: KeyName
    package var count: Int64

    package init(_ name: KeyName, count: Int64) { (self.name, self.count) = (name, count) }
}

/// The number of dependencies of one operation that have ended.
public struct PendingCount: Sendable, Hashable {
    package var operation: OperationID
    package var ended: Int64

    package init(operation: OperationID, ended: Int64) { (self.operation, self.ended) = (operation, ended) }
}

/// Sets of rows of one open transaction. Each dialect loads and stores sets; `DurableMachine` decides.
///
/// All lists of operations are in ascending order of identifiers, so that transactions lock rows in one order.
/// Rows of operations that a call returns stay locked until the end of the transaction.
public protocol DurableRows {
    /// The current instant of the database's clock. All calls in a transaction return one instant.
    var now: DurableInstant { get }

    /// Reserves consecutive identifiers and returns the first. Identifiers of a failed event may stay unused.
    mutating func reserveOperationIDs(_ count: Int) throws -> OperationID
    /// Returns the queue with the name. Creates the queue if necessary.
    mutating func queue(named name: String) throws -> QueueRow
    /// Returns the queue with the name, if the queue exists.
    mutating func existingQueue(named name: String) throws -> QueueRow?
    mutating func queue(_ id: QueueID) throws -> QueueRow
    mutating func queues() throws -> [QueueRow]
    /// Returns the identifier of the name of an operation. Creates the identifier if necessary.
    mutating func kind(named name: String) throws -> KindID
    mutating func name(of kind: KindID) throws -> String

    /// Returns the operations that exist.
    mutating func operations(_ ids: [OperationID]) throws -> [OperationRow]
    /// Returns the first operations that match the filter. The time grows with the number of stored operations.
    mutating func operations(matching filter: DurableFilter) throws -> [OperationID]
    /// Returns the answer in the order of the question, or in that of identifiers.
    mutating func operations(_ query: OperationQuery) throws -> [OperationID]
    mutating func inputs(of ids: [OperationID]) throws -> [OperationID: [UInt8]]
    mutating func output(of id: OperationID) throws -> [UInt8]?
    /// Removes the edges from the operations, and returns these edges.
    mutating func removeEdges(from dependencies: [OperationID]) throws -> [Edge]
    /// Subtracts from the numbers of unfinished dependencies of operations whose numbers stay above zero.
    ///
    /// - Returns: The operations that the call did not change.
    mutating func subtractPending(_ counts: [PendingCount]) throws -> [OperationID]
    mutating func edges(to dependents: [OperationID]) throws -> [Edge]
    mutating func edges(from dependencies: [OperationID]) throws -> [Edge]
    mutating func unfinishedChildren(of parents: [OperationID]) throws -> [OperationID]
    /// Returns the first operations of a lane, in the order of starts.
    mutating func ready(queue: QueueID, epoch: Int64, kind: KindID, limit: Int) throws -> [ReadyEntry]
    /// Returns the earliest instant at which a ready operation of the lane and the priority became ready.
    mutating func oldestReady(queue: QueueID, epoch: Int64, kind: KindID, priority: DurablePriority) throws
        -> DurableInstant?
    /// Returns the first blocked operations of each key by the order of starts, in any order.
    mutating func firstBlocked(of shares: [KeyShare]) throws -> [OperationID]
    /// Returns the last ready operations of each key by the order of starts, in any order.
    mutating func lastReady(of shares: [KeyShare]) throws -> [OperationID]
    /// Returns the keys whose wake instant has passed, the earliest first.
    mutating func dueKeys(limit: Int) throws -> [KeyName]
    /// Returns the earliest instant of: wakes of scheduled and signal-awaiting operations, deadlines of operations that do
    /// not run, wakes of keys, and schedules. An instant in the future may precede the earliest deadline.
    mutating func nextWake() throws -> DurableInstant?
    /// Returns the counters of the queue that are not zero. The time grows with the number of epochs, and so of barriers.
    mutating func counters(of queue: QueueID) throws -> [Counter: Int64]
    /// Returns the counters of one epoch of the queue that are not zero.
    mutating func counters(of queue: QueueID, epoch: Int64) throws -> [Counter: Int64]
    /// Returns the first epoch of the queue with an unfinished operation, from the given epoch on.
    mutating func firstEpoch(of queue: QueueID, from epoch: Int64) throws -> Int64?
    /// Returns the number of running operations of the queue. The time does not depend on the number of epochs.
    mutating func runningCount(of queue: QueueID) throws -> Int64
    /// Returns the keys that have rows, in any order.
    mutating func keys(_ names: [KeyName]) throws -> [KeyRow]
    mutating func keys(of queue: QueueID) throws -> [KeyRow]
    mutating func unique(kind: KindID, key: String) throws -> UniqueRow?
    /// Returns the ends of the periods for which unique keys of the operations hold; the last one of each operation.
    mutating func uniquePeriods(of ids: [OperationID]) throws -> [OperationID: DurableInstant]
    mutating func history(of ids: [OperationID]) throws -> [HistoryEntry]
    /// Returns the oldest signal of the name that no wait has consumed.
    mutating func signal(_ name: String, for operation: OperationID) throws -> SignalRow?
    /// Returns the number of the next signal of the operation.
    mutating func nextSignalNumber(for operation: OperationID) throws -> Int64
    mutating func worker(_ id: WorkerID) throws -> WorkerRow?
    mutating func workers() throws -> [WorkerRow]
    /// Returns the workers whose leases have expired.
    mutating func expiredWorkers() throws -> [WorkerID]
    mutating func reserveWorkerID() throws -> WorkerID
    mutating func schedule(named name: String) throws -> ScheduleRow?
    mutating func schedules() throws -> [ScheduleRow]
    /// Returns the schedules whose next time has come.
    mutating func dueSchedules() throws -> [ScheduleRow]
    /// Returns the records of attempts, in the order of leases.
    mutating func attempts(of operation: OperationID) throws -> [AttemptRow]
    /// Returns the instant until which the store records events.
    mutating func observedUntil() throws -> DurableInstant
    /// Reserves consecutive numbers of events and returns the first.
    mutating func reserveEventNumbers(_ count: Int) throws -> Int64
    /// Returns the last reserved number of an event; 0 if there is none.
    mutating func lastEventNumber() throws -> Int64
    mutating func events(after number: Int64, limit: Int) throws -> [EventRow]
    /// Removes the first events that are older than the instant.
    mutating func removeEvents(before instant: DurableInstant, limit: Int) throws
    /// Removes the operations with all their records.
    mutating func remove(_ ids: [OperationID]) throws
    /// Stores the changes.
    mutating func save(_ changes: Changes) throws
}
