/// An operation that runs attempts until one of them succeeds or the policy permits no further attempt.
///
/// An operation runs once, so a closure creates a new operation for each attempt. The attempts run in a separate queue,
/// in the slot of the retry operation and at its service level. The retry operation fails with the error of the last
/// attempt.
///
/// During a delay, the retry operation gives its slot, its resources and the turn of its key to other operations, as
/// ``AsyncOperation/releaseSlot(for:clock:)`` does, and `isExecuting` is false. The next attempt waits until it has them again.
/// A retry without a delay keeps them. The time limit of a retry operation includes the delays.
///
/// Cancelling the retry operation cancels the running attempt. If other code cancels an attempt, the retry operation ends
/// as cancelled.
open class RetryOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: `current` is a lock; `retry` belongs to the caller of `init`, and then to the operation's task.
    private final let attempts = OperationQueue(kind: .unplaced)
    private final let current = Locked<Operation?>(nil)
    /// nil when the operation has ended: the captures of the closures are released then (rule W5).
    @exclusivity(unchecked) private final var retry: (@Sendable (RetryOperation) async throws -> Void)?

    /// Creates a retry operation.
    ///
    /// - Parameters:
    ///   - policy: The number of retries and the delays.
    ///   - clock: The clock that measures the delays.
    ///   - random: The source of the jitter.
    ///   - makeOperation: Creates the operation of an attempt. It receives the number of the attempt, which begins at 1.
    ///     The operation must not be in a queue.
    public init(
        _ policy: RetryPolicy, clock: some Clock<Duration> = ContinuousClock(),
        random: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        _ makeOperation: @escaping @Sendable (Int) -> Operation
    ) {
        retry = { operation in
            try await policy.run(releasingSlotOf: operation, clock: clock, random: random) { number in
                try await operation.runAttempt(makeOperation(number))
            }
        }
        super.init()
        attempts.setOwner(self)
    }

    deinit {
        guard retry != nil else { return }
        Release.add(retry.take() as Any)
        Release.run(in: .current)
    }

    open override func run() async throws {
        passOnQuality(to: attempts)
        try await retry?(self)
    }

    nonisolated(nonsending)
        override func work() async throws
    {
        defer { retry = nil }
        placeIfMissed()
        attempts.becomePlaced()
        try await run()
    }

    override func releaseWork() {
        retry = nil
        super.releaseWork()
    }

    override var innerQueue: OperationQueue? { attempts }

    // An attempt may add other operations to the queue, which the retry operation does not wait for.
    override var unfinishedParts: [Operation] {
        let attempt = current.withLock { $0 }
        return attempts.listed().filter { $0 === attempt }
    }

    open override func cancel() {
        super.cancel()
        Descent.step { [current] in current.withLock { $0 }?.cancel() }
    }

    private final func runAttempt(_ operation: Operation) async throws {
        // Exchanged: the operation of an attempt is released without the lock.
        _ = current.exchange(operation)
        defer { _ = current.exchange(nil) }
        if isCancelled { operation.cancel() }
        try attempts.tryAddOperation(operation)
        // The attempt is cancelled with this operation, and its outcome counts.
        try await operation.waitUntilFinished(inAnyQueue: false, .hasNoEffect)
        switch operation.operationOutcome {
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        case .succeeded, nil: return
        }
    }
}
