/// A choice of operations by states, queue and name.
public struct DurableFilter: Sendable, Hashable {
    /// The states; nil for all states.
    public var states: Set<DurableState>?
    /// The name of the queue; nil for all queues.
    public var queue: String?
    /// The name of the operations; nil for all names.
    public var name: String?
    /// The operation behind which the choice begins; nil for all operations. Identifiers grow with each addition.
    public var after: OperationID?
    /// The largest number of operations. The default is 1,000.
    public var limit = 1_000

    /// Creates a filter.
    public init(
        states: Set<DurableState>? = nil, queue: String? = nil, name: String? = nil, after: OperationID? = nil,
        limit: Int = 1_000
    ) {
        (self.states, self.queue, self.name, self.after, self.limit) = (states, queue, name, after, limit)
    }

    /// Returns the filter, limited to the given states.
    package func limited(to states: Set<DurableState>) -> Self {
        var filter = self
        filter.states = self.states?.intersection(states) ?? states
        return filter
    }
}
