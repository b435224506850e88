public import DurableCore

/// Operations that one transaction adds, in any order.
public struct DurableGraph: Sendable {
    /// A member of the graph, with the type of its output.
    public struct Member<Output: Sendable>: Sendable {
        let index: Int
    }

    /// The stored operations of a graph.
    public struct Added: Sendable {
        /// The identifiers, in the order of additions.
        public let ids: [OperationID]
        let store: any DurableStore

        /// Returns the handle of a member.
        public func handle<Output>(of member: Member<Output>) -> DurableHandle<Output> {
            DurableHandle(id: ids[member.index], store: store)
        }
    }

    private(set) var members: [NewOperation] = []

    /// Creates an empty graph.
    public init() {}

    /// Adds a member.
    ///
    /// - Parameters:
    ///   - operation: The operation.
    ///   - queue: The queue of the operation.
    ///   - priority: The priority in the queue.
    ///   - dependencies: Stored operations that end before the operation starts.
    ///   - retry: The rule for retries.
    ///   - options: Further options. The named parameters have precedence.
    /// - Throws: The error of encoding the operation.
    @discardableResult
    public mutating func add<Work: DurableOperation>(
        _ operation: Work, to queue: DurableQueue, priority: DurablePriority? = nil,
        after dependencies: [any DurableReference] = [], retry: RetryRule? = nil,
        options: DurableOptions = DurableOptions()
    ) throws -> Member<Work.Output> {
        members.append(try queue.newOperation(operation, priority, dependencies, retry, options))
        return Member(index: members.count - 1)
    }

    /// Makes a member wait for the end of another member.
    public mutating func addDependency<A, B>(of dependent: Member<A>, on dependency: Member<B>) {
        members[dependent.index].after.append(.member(dependency.index))
    }
}
