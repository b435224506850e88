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
    ///   - dependencies: Stored operations that end before the operation starts.
    ///   - options: Further options.
    /// - Throws: The error of encoding the operation.
    @discardableResult
    public mutating func add<Work: DurableOperation>(
        _ operation: Work, to queue: DurableQueue, after dependencies: [any DurableReference] = [],
        options: DurableOptions = DurableOptions()
    ) throws -> Member<Work.Output> {
        members.append(try queue.newOperation(operation, nil, dependencies, nil, options))
        return Member(index: members.count - 1)
    }

    /// Makes a member wait for the end of another member.
    public mutating func addDependency<A, B>(of dependent: Member<A>, on dependency: Member<B>) {
        members[dependent.index].after.append(.member(dependency.index))
    }
}
