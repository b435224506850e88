import Operations
import TestSupport
import Testing

/// Rule N1: `cancel()` and the cancellation of the task have the same effect.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct AsyncCancellationTests {
    @Test func `an operation that is cancelled before it starts never runs its closure`() async {
        let queue = OperationQueue()
        let hasRun = Guarded(false)
        let dependency = Operation()
        let operation = queue.addTask(after: [dependency]) { hasRun.withLock { $0 = true } }
        let dependent = queue.addTask(after: [operation]) { true }
        operation.cancel()
        await #expect(throws: CancellationError.self) { try await operation.value }
        #expect(await dependent.result.isSuccess)
        #expect(!hasRun.withLock { $0 } && operation.isCancelled && operation.isFinished)
        guard case .cancelled = operation.operationOutcome else {
            Issue.record("\(String(describing: operation.operationOutcome))")
            return
        }
    }

    @Test func `work that throws a CancellationError counts as cancelled, although no call cancelled it`() async {
        let operation = OperationQueue().addTask { throw CancellationError() }
        await operation.waitUntilFinished()
        #expect(operation.operationOutcome?.description == "was cancelled" && !operation.isCancelled)
    }

    @Test func `cancelling an operation cancels its task, and its child tasks`() async {
        let queue = OperationQueue()
        for _ in 0..<300 {
            let hasBegun = AsyncGate()
            let operation = queue.addTask {
                async let child: Void = Self.sleepUntilCancelled()
                hasBegun.open()
                try await Self.sleepUntilCancelled()
                try await child
            }
            await hasBegun.pass()
            operation.cancel()
            await #expect(throws: CancellationError.self) { try await operation.value }
        }
    }

    private static func sleepUntilCancelled() async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            continuation.finish()
        }
        try Task.checkCancellation()
    }

    @Test func `cancelling the task from inside cancels its operation`() async {
        let operation = TaskOperation {
            withUnsafeCurrentTask { $0?.cancel() }
            try await Self.sleepUntilCancelled()
        }
        let isNotified = Guarded(0)
        let observation = operation.observe(\.isCancelled) { _, _ in isNotified.withLock { $0 += 1 } }
        OperationQueue().addOperation(operation)
        await operation.waitUntilFinished()
        #expect(operation.isCancelled && isNotified.withLock { $0 } == 1)
        observation.invalidate()
    }

    @Test func `cancelling the caller of run cancels the operation, whether it waits or runs`() async {
        let held = OperationQueue()
        held.isSuspended = true
        let waiting = Task { try await held.run { 1 } }
        let running = Task { try await OperationQueue().run { try await Self.sleepUntilCancelled() } }
        waiting.cancel()
        running.cancel()
        await #expect(throws: CancellationError.self) { try await running.value }
        held.isSuspended = false
        await #expect(throws: CancellationError.self) { try await waiting.value }
    }

    @Test func `a closure that ignores the cancellation still gives its value`() async throws {
        let hasBegun = AsyncGate()
        let mayEnd = AsyncGate()
        let operation = OperationQueue().addTask {
            hasBegun.open()
            await mayEnd.pass()
            return Task.isCancelled
        }
        await hasBegun.pass()
        operation.cancel()
        mayEnd.open()
        #expect(try await operation.value)
    }

    @Test func `cancelling at any moment ends every operation, and frees every closure`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 4
        let live = Guarded(0)
        for round in 0..<Stress.rounds(300, least: 80) {
            let operations = (0..<20).map { _ in
                let token = Token(live)
                return TaskOperation { [token] in
                    await Task.yield()
                    try Task.checkCancellation()
                    await Task.yield()
                    withExtendedLifetime(token) {}
                }
            }
            for operation in operations { queue.addOperation(operation) }
            if round.isMultiple(of: 2) {
                queue.cancelAllOperations()
            } else {
                for operation in operations.reversed() { operation.cancel() }
            }
            await queue.waitUntilAllOperationsAreFinished()
        }
        // The thread that used the last one may hold it for a moment longer.
        while live.withLock({ $0 }) > 0, !Task.isCancelled { await Task.yield() }
        #expect(live.withLock { $0 } == 0)
    }

    @Test func `an override of cancel is called for both, and may end its operation early`() async {
        let queue = OperationQueue()
        for _ in 0..<200 {
            let operation = ImpatientOperation()
            queue.addOperation(operation)
            await operation.hasBegun.pass()
            operation.cancel()
            // An overridden `isFinished` is true while `run()` is still suspended.
            await operation.waitUntilFinished()
            operation.mayEnd.open()
            await operation.hasEnded.pass()
        }
        #expect(queue.countNow == 0)
    }
}

/// Announces its end from `cancel()`, long before `run()` returns.
private final class ImpatientOperation: AsyncOperation, @unchecked Sendable {
    let hasBegun = AsyncGate()
    let mayEnd = AsyncGate()
    let hasEnded = AsyncGate()
    private let isOver = Guarded(false)

    override var isFinished: Bool { isOver.withLock { $0 } || super.isFinished }

    override func cancel() {
        super.cancel()
        willChangeValue(for: \.isFinished)
        isOver.withLock { $0 = true }
        didChangeValue(for: \.isFinished)
    }

    override func run() async throws {
        hasBegun.open()
        await mayEnd.pass()
        hasEnded.open()
    }
}

private final class Token: Sendable {
    private let live: Guarded<Int>

    init(_ live: Guarded<Int>) {
        self.live = live
        live.withLock { $0 += 1 }
    }

    deinit { live.withLock { $0 -= 1 } }
}

extension Result {
    fileprivate var isSuccess: Bool { if case .success = self { true } else { false } }
}
