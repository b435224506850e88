/// An async operation whose work is a closure with a typed result. See `OperationQueue.addTask`.
///
/// It is an operation like any other: it may have dependents and dependencies, be cancelled, observed and awaited.
public final class TaskOperation<Success: Sendable>: ClosureOperation, @unchecked Sendable {
    // Sendable: the closure writes it before the step that finishes the operation. Readers read it only after that step.
    @usableFromInline @exclusivity(unchecked) var success: Success?

    /// Creates an operation that runs `body` once, when the operation is started.
    ///
    /// - Parameters:
    ///   - name: A label for people.
    ///   - priority: The rank of the operation among the ready operations of its queue.
    ///   - body: The work.
    @inlinable
    public init(
        name: String? = nil, priority: Operation.QueuePriority = .normal,
        _ body: @escaping @Sendable () async throws -> Success
    ) {
        super.init()
        if let name { self.name = name }
        if priority != .normal { queuePriority = priority }
        // The operation exists while its closure runs. Inlined, so that no metadata of `Success` is looked up.
        closure = AsyncClosure { [unowned(unsafe) self] in success = try await body() }
    }

    /// The result of the closure. Reading it suspends until the operation is finished and has left its queue.
    ///
    /// Any number of tasks may await the value, at any time. A cancellation of such a task cancels neither the operation
    /// nor the wait. See `OperationQueue.run` for that. A task of a higher priority raises the operation's priority.
    ///
    /// - Throws: The error of the closure. `CancellationError` when the operation was cancelled before the closure ran.
    ///   `OperationError` when an operation waits for itself, or for another operation of its serial queue.
    public var value: Success { get async throws { try await result.get() } }

    /// The result of the closure or the failure of the operation. Reading it suspends like ``value``.
    public var result: Result<Success, any Error> {
        get async {
            do { try await waitUntilFinished(inAnyQueue: true) } catch { return .failure(error) }
            noteFailureSeen()
            if let failure = reportedFailure { return .failure(failure) }
            return success.map { .success($0) } ?? .failure(CancellationError())
        }
    }
}

/// An async operation whose work is a closure: the part of task operations that does not depend on the result type.
public class ClosureOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: `closure` belongs to the creator of the operation, and then to the thread that launches its task, which
    // happens once.
    @usableFromInline @exclusivity(unchecked) final var closure: AsyncClosure?

    @usableFromInline
    override init() {}

    deinit {
        guard closure != nil else { return }
        Release.add(closure.take() as Any)
        Release.run(in: .current)
    }

    nonisolated(nonsending)
        override func work() async throws
    {
        try await takeClosure()?.body()
    }

    override func takeClosure() -> AsyncClosure? { closure.take() }

    override func releaseWork() { closure = nil }
}

/// A closure in a structure: an optional function would be stored in a general form, which two more async functions convert.
@usableFromInline
struct AsyncClosure: Sendable {
    let body: nonisolated(nonsending) @Sendable () async throws -> Void

    @usableFromInline
    init(_ body: nonisolated(nonsending) @escaping @Sendable () async throws -> Void) { self.body = body }
}
