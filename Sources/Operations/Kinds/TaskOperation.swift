/// An async operation whose work is a closure with a typed result. See `OperationQueue.addTask`.
///
/// It is an operation like any other: it may have dependents and dependencies, be cancelled, observed and awaited.
public final class TaskOperation<Success: Sendable>: ClosureOperation, @unchecked Sendable {
    // Sendable: `body` belongs to the creator of the operation, and then to the thread that launches its task, which happens
    // once.
    @usableFromInline @exclusivity(unchecked) var body: TaskBody<Success>?

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
        self.body = TaskBody(run: body)
    }

    deinit {
        guard let body = takeBody() else { return }
        // Without this function's reference, which would be the last one.
        Release.add(consume body)
        Release.run(in: .current)
    }

    nonisolated(nonsending)
        override func work() async throws
    {
        guard let body = takeBody() else { return }
        success = try await body.run()
    }

    nonisolated(nonsending)
        override func body(of task: OperationTask) async
    {
        guard let hooks = beginBody(of: task) else { return }
        do {
            if let interceptor = hooks.interceptor {
                try await interceptor.perform(self, work)
            } else if let body = takeBody() {
                success = try await body.run()
            }
        } catch {
            reportFailure(error)
        }
        endBody(of: task, hooks)
    }

    /// Not `take()`, which would look up generic metadata.
    @inline(__always)
    private func takeBody() -> TaskBody<Success>? {
        guard let body else { return nil }
        self.body = nil
        return body
    }

    override func releaseWork() { body = nil }

    /// The result of the closure. Reading it suspends until the operation is finished and has left its queue.
    ///
    /// Any number of tasks may await the value, at any time. A cancellation of such a task does not cancel the operation, and
    /// ends the wait only if the closure has not started. See `OperationQueue.run`, which cancels the operation too. A task of a
    /// higher priority raises the operation's priority.
    ///
    /// - Throws: The error of the closure. `CancellationError` when the operation, or the waiting task, was cancelled before the
    ///   closure ran.
    ///   `OperationError` when an operation waits for itself, or for another operation of its serial queue.
    public var value: Success { get async throws { try await result.get() } }

    /// The result of the closure or the failure of the operation. Reading it suspends like ``value``.
    public var result: Result<Success, any Error> {
        get async {
            do {
                guard try await waitUntilFinished(inAnyQueue: true) else { return .failure(CancellationError()) }
            } catch {
                return .failure(error)
            }
            return finishedResult
        }
    }

    private var finishedResult: Result<Success, any Error> {
        noteFailureSeen()
        if let failure = reportedFailure { return .failure(failure) }
        return success.map { .success($0 as! Success) } ?? .failure(CancellationError())
    }

    /// Returns the result for the only task that runs the operation. See `OperationQueue.run`.
    ///
    /// - Parameters:
    ///   - wait: The wait that the handler of the task's cancellation abandons, after it has cancelled the operation.
    ///   - raises: Whether the task raises the operation to its own priority.
    @usableFromInline
    func value(for wait: TaskWait, raises: Bool) async throws -> Success {
        guard try await waitUntilFinished(inAnyQueue: raises, .cancelsOperation(wait)) else {
            throw CancellationError()
        }
        return try finishedResult.get()
    }
}

/// An async operation whose work is a closure: the part of task operations that does not depend on the result type.
public class ClosureOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: the task writes `success` before the step that finishes the operation. Readers read it only after that step.

    /// The result of the closure. Not in the generic class, whose `deinit` would look up the metadata of an optional `Success`.
    @exclusivity(unchecked) final var success: Any?

    @usableFromInline
    override init() {}
}

/// A closure in a structure: an optional function would be stored in a general form, which two more async functions convert.
@usableFromInline
struct TaskBody<Success>: Sendable {
    let run: @Sendable () async throws -> Success

    @usableFromInline
    init(run: @escaping @Sendable () async throws -> Success) { self.run = run }
}
