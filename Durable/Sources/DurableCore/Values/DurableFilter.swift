/// A choice of operations by state, queue and name.
public struct DurableFilter: Sendable, Hashable {
    /// The state; nil for all states.
    public var state: DurableState?
    /// The name of the queue; nil for all queues.
    public var queue: String?
    /// The name of the operations; nil for all names.
    public var name: String?
    /// The largest number of operations. The default is 1,000.
    public var limit = 1_000

    /// Creates a filter.
    public init(state: DurableState? = nil, queue: String? = nil, name: String? = nil) {
        (self.state, self.queue, self.name) = (state, queue, name)
    }
}
