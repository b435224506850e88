/// A choice of operations by identifiers, states, queue, name and age.
public struct DurableFilter: Sendable, Hashable {
    /// The identifiers; nil for all operations. The time of a look with identifiers does not grow with the number of stored operations.
    public var ids: Set<OperationID>?
    /// The states; nil for all states.
    public var states: Set<DurableState>?
    /// The name of the queue; nil for all queues.
    public var queue: String?
    /// The name of the operations; nil for all names.
    public var name: String?
    /// The least age, by the database's clock; nil for all ages.
    ///
    /// The age of an operation that has ended is the time since its end. The age of a running operation is the time since its last
    /// start, and the age of any other operation is the time since its addition.
    public var minimumAge: Duration?
    /// The greatest age, by the database's clock; nil for all ages.
    public var maximumAge: Duration?
    /// The operation behind which the choice begins; nil for all operations. Identifiers grow with each addition.
    public var after: OperationID?
    /// The largest number of operations. The default is 1,000.
    public var limit = 1_000

    /// Creates a filter.
    public init(
        ids: Set<OperationID>? = nil, states: Set<DurableState>? = nil, queue: String? = nil, name: String? = nil,
        minimumAge: Duration? = nil, maximumAge: Duration? = nil, after: OperationID? = nil, limit: Int = 1_000
    ) {
        (self.ids, self.states, self.queue, self.name) = (ids, states, queue, name)
        (self.minimumAge, self.maximumAge, self.after, self.limit) = (minimumAge, maximumAge, after, limit)
    }

    /// Returns the filter, limited to the given states.
    package func limited(to states: Set<DurableState>) -> Self {
        var filter = self
        filter.states = self.states?.intersection(states) ?? states
        return filter
    }

    /// The instants between which the age of an operation begins, for a question at the given instant.
    package func ages(at now: DurableInstant) -> (oldest: DurableInstant?, youngest: DurableInstant?) {
        (maximumAge.map { now - $0 }, minimumAge.map { now - $0 })
    }

    /// Returns whether an operation matches, except for its queue and its name.
    package func accepts(_ row: OperationRow, at now: DurableInstant) -> Bool {
        let (oldest, youngest) = ages(at: now)
        return ids?.contains(row.id) != false && states?.contains(row.state) != false
            && after.map { row.id > $0 } != false && oldest.map { row.ageBegin >= $0 } != false
            && youngest.map { row.ageBegin <= $0 } != false
    }
}

extension OperationRow {
    /// The instant at which the age of the operation begins.
    fileprivate var ageBegin: DurableInstant {
        (state.isEnded ? endedAt : state == .running ? startedAt : nil) ?? addedAt
    }
}

extension DurableInstant {
    /// Returns the instant at the given distance before. The difference saturates.
    fileprivate static func - (instant: Self, duration: Duration) -> Self {
        let distance = duration.microseconds
        return instant.advanced(byMicroseconds: distance == .min ? .max : -distance)
    }
}

extension DurableMachine {
    /// Returns the first operations that match the filter, in ascending order of identifiers.
    package mutating func operations(matching filter: DurableFilter) throws -> [OperationID] {
        guard let ids = filter.ids else { return try rows.operations(matching: filter) }
        var found: [OperationID] = []
        for row in try rows.operations(ids.sorted()).sorted(by: { $0.id < $1.id }) where found.count < filter.limit {
            if try matches(row, filter) { found.append(row.id) }
        }
        return found
    }

    /// Returns whether the operation matches the filter.
    package mutating func matches(_ row: OperationRow, _ filter: DurableFilter) throws -> Bool {
        guard filter.accepts(row, at: now) else { return false }
        if let queue = filter.queue, ExactName(try rows.queue(row.queue).name) != ExactName(queue) { return false }
        if let name = filter.name, ExactName(try rows.name(of: row.kind)) != ExactName(name) { return false }
        return true
    }
}
