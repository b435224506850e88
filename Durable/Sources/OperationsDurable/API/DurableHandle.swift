public import DurableCore

/// A reference to a stored operation, with the type of its output.
public struct DurableHandle<Output: Sendable>: DurableReference, Hashable {
    public let id: OperationID
    /// The store of the operation.
    public let store: any DurableStore

    /// Creates a reference to an operation whose output has the given type.
    public init(id: OperationID, store: any DurableStore) { (self.id, self.store) = (id, store) }

    public static func == (a: Self, b: Self) -> Bool { a.id == b.id && a.store.identity == b.store.identity }

    public func hash(into hasher: inout Hasher) { hasher.combine(id) }

    /// The output. Suspends until the operation has ended on any machine.
    ///
    /// - Throws: `DurableError.notSucceeded` with the outcome and the reason, `unknownOperation`, or `CancellationError`.
    public var value: Output {
        get async throws {
            let end = try await end()
            guard end.state == .succeeded else {
                return try value(of: AwaitedEnd(state: end.state, content: Array((end.reason ?? "").utf8)))
            }
            let output = try await store.read { [id] in try $0.rows.output(of: id) } ?? []
            return try value(of: AwaitedEnd(state: end.state, content: output))
        }
    }

    /// Returns the output of an operation with this end, or throws `notSucceeded`.
    func value(of end: AwaitedEnd) throws -> Output {
        guard end.state == .succeeded else {
            throw DurableError.notSucceeded(id, end.state, reason: String(decoding: end.content, as: UTF8.self))
        }
        return try Payload.decode(Output.self, from: end.content, of: "output of operation \(id)")
    }

    /// The outcome. Suspends until the operation has ended on any machine.
    public var outcome: DurableState { get async throws { try await end().state } }

    /// The current state.
    ///
    /// - Throws: `DurableError.unknownOperation`.
    public var state: DurableState { get async throws { try await row().state } }

    /// Requests the operation to cancel. An operation that does not run ends at once.
    public func cancel() async throws { try await store.cancel([id]) }

    private func row() async throws -> OperationRow {
        try await store.read { [id] machine in
            guard let row = try machine.rows.operations([id]).first else { throw DurableError.unknownOperation(id) }
            return row
        }
    }

    private func end() async throws -> OperationRow {
        try await store.notices.wait(for: id) {
            let row = try await row()
            return row.state.isEnded ? row : nil
        }
    }
}
