/// Runs an operation, and when it fails another one, until one succeeds or the policy gives up.
///
/// An operation runs once; so each attempt is a new one, made by a closure. The attempts run in a queue of their own, in
/// the slot of this operation and at its service level; it fails with the error of the last one. Cancelling cancels the
/// attempt that runs. An attempt that is cancelled by others ends the trying.
open class RetryOperation: AsyncOperation, @unchecked Sendable {
    // Sendable: `current` is a lock; `retry` belongs to the caller of `init`, and then to the operation's task.
    private final let attempts = OperationQueue()
    private final let current = Locked<Operation?>(nil)
    /// nil when the operation has ended: then nothing holds what the closures have captured (rule W5).
    @exclusivity(unchecked) private final var retry: (@Sendable (RetryOperation) async throws -> Void)?

    /// - Parameters:
    ///   - policy: How often, and after which delays.
    ///   - clock: What the delays are measured with.
    ///   - random: Where the jitter comes from.
    ///   - makeOperation: Makes the operation of an attempt, whose number it is given, from 1. It must be in no queue.
    public init(
        _ policy: RetryPolicy, clock: some Clock<Duration> = ContinuousClock(),
        random: some RandomNumberGenerator & Sendable = SystemRandomNumberGenerator(),
        _ makeOperation: @escaping @Sendable (Int) -> Operation
    ) {
        retry = { operation in
            try await policy.run(clock: clock, random: random) { number in
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
        try await run()
    }

    override func releaseWork() { retry = nil }

    override var innerQueue: OperationQueue? { attempts }

    open override func cancel() {
        super.cancel()
        Descent.step { [current] in current.withLock { $0 }?.cancel() }
    }

    private final func runAttempt(_ operation: Operation) async throws {
        current.withLock { $0 = operation }
        if isCancelled { operation.cancel() }
        try attempts.tryAddOperation(operation)
        await operation.waitUntilFinished()
        let last = current.withLock { $0.take() }
        withExtendedLifetime(last) {}
        switch operation.operationOutcome {
        case .failed(let error): throw error
        case .cancelled: throw CancellationError()
        case .succeeded, nil: return
        }
    }
}
