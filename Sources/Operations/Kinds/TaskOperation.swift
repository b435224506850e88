/// An async operation whose work is a closure with a typed result; see `OperationQueue.addTask`.
///
/// It is an operation like any other: it may have dependencies and be one, be cancelled, observed, and waited for.
public final class TaskOperation<Success: Sendable>: ClosureOperation, @unchecked Sendable {
    // Sendable: written by the closure, before the step that finishes the operation; read only after that step was seen.
    @usableFromInline @exclusivity(unchecked) var success: Success?

    /// An operation that runs `body`, once, when it is started.
    @inlinable
    public init(_ body: @escaping @Sendable () async throws -> Success) {
        super.init()
        // The operation is there while its closure runs. Inlined, so that no metadata of `Success` is looked up.
        closure = { [unowned(unsafe) self] in success = try await body() }
    }

    /// The result, as soon as there is one. Suspends until the operation is finished and has left its queue.
    ///
    /// Any number of tasks may await it, at any time. Being cancelled ends neither the operation nor the waiting; see
    /// `OperationQueue.run` for that. A task of higher priority than the operation's raises that.
    ///
    /// - Throws: What the closure threw; `CancellationError` when the operation was cancelled before the closure ran; misuse
    ///   M8 as an `OperationError`.
    public var value: Success { get async throws { try await result.get() } }

    /// The result, or why there is none, as soon as the operation is finished. See `value`.
    public var result: Result<Success, any Error> {
        get async {
            do { try await waitUntilFinished(inAnyQueue: true) } catch { return .failure(error) }
            noteFailureSeen()
            if let failure = reportedFailure { return .failure(failure) }
            return success.map { .success($0) } ?? .failure(CancellationError())
        }
    }
}

/// An async operation whose work is a closure; what all task operations have in common, whatever their result is.
public class ClosureOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: `closure` belongs to who makes the operation, and then to who launches its task, which happens once.
    @usableFromInline @exclusivity(unchecked) final var closure:
        (nonisolated(nonsending) @Sendable () async throws -> Void)?

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
        var taken: (nonisolated(nonsending) @Sendable () async throws -> Void)?
        swap(&taken, &closure)
        try await taken?()
    }

    override func releaseWork() { closure = nil }
}
