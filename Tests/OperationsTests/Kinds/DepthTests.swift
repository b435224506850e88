import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rule A11: no depth overflows the stack. Debug builds use less depth, because their frames are larger.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct DepthTests {
    #if DEBUG
    private static let depth = 3_000
    private static let depthOnSmallStack = Stress.rounds(3_000, least: 1_000)
    private static let chain = Stress.rounds(50_000, least: 3_000)
    #else
    private static let depth = 100_000
    private static let depthOnSmallStack = 100_000
    private static let chain = Stress.rounds(1_000_000, least: 100_000)
    #endif

    /// Groups in groups, around one operation.
    private func nest(_ depth: Int, around leaf: Operation) -> GroupOperation {
        var group = GroupOperation()
        group.addChild(leaf)
        for _ in 1..<depth {
            let outer = GroupOperation()
            outer.addChild(group)
            group = outer
        }
        return group
    }

    @Test(.onSmallStack) func `groups nested deep are cancelled while they run`() async {
        let (began, cancelled) = (Gate(), AsyncGate())
        let leaf = TaskOperation {
            began.open()
            await withTaskCancellationHandler {
                await cancelled.pass()
            } onCancel: {
                cancelled.open()
            }
        }
        let group = nest(Self.depthOnSmallStack, around: leaf)
        OperationQueue().addOperation(group)
        began.pass()
        group.cancel()
        #expect(leaf.isCancelled)
        await group.waitUntilFinished()
        #expect(leaf.isFinished)
    }

    @Test(.onSmallStack) func `groups nested deep are cancelled before they are added`() async {
        let leaf = BlockOperation {}
        let group = nest(Self.depthOnSmallStack, around: leaf)
        group.cancel()
        #expect(leaf.isCancelled)
        OperationQueue().addOperation(group)
        await group.waitUntilFinished()
        #expect(leaf.isFinished)
    }

    @Test(.onSmallStack) func `groups nested deep are released without having been added`() async {
        let leaf = BlockOperation {}
        var group: GroupOperation? = nest(Self.depthOnSmallStack, around: leaf)
        withExtendedLifetime(group) {}
        group = nil
        await leaf.waitUntilFinished()
        #expect(leaf.isCancelled)
    }

    @Test func `groups nested deep time out`() async throws {
        let cancelled = AsyncGate()
        let leaf = TaskOperation {
            await withTaskCancellationHandler {
                await cancelled.pass()
            } onCancel: {
                cancelled.open()
            }
        }
        let group = nest(Self.depth, around: leaf)
        group.setTimeout(.milliseconds(1))
        OperationQueue().addOperation(group)
        await group.waitUntilFinished()
        #expect(leaf.isCancelled)
    }

    @Test func `retry operations nested deep are cancelled`() async throws {
        let policy = RetryPolicy(retries: 0)
        let (began, cancelled) = (Gate(), AsyncGate())
        @Sendable func nested(_ depth: Int) -> Operation {
            guard depth > 0 else {
                return TaskOperation {
                    began.open()
                    await withTaskCancellationHandler {
                        await cancelled.pass()
                    } onCancel: {
                        cancelled.open()
                    }
                }
            }
            return RetryOperation(policy) { _ in nested(depth - 1) }
        }
        let operation = nested(Self.depth / 10)
        OperationQueue().addOperation(operation)
        began.pass()
        operation.cancel()
        await operation.waitUntilFinished()
        #expect(operation.isCancelled)
    }

    @Test func `a long chain of operations that await each other is raised in priority`() async throws {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = .max
        let (begun, raised, gate) = (Gate(Self.depth), AsyncGate(), AsyncGate())
        var last = queue.addTask {
            await withTaskPriorityEscalationHandler {
                await gate.pass()
            } onPriorityEscalated: { _, _ in
                raised.open()
            }
        }
        for _ in 0..<Self.depth {
            let previous = last
            last = queue.addTask {
                begun.open()
                try await previous.value
            }
        }
        begun.pass()
        let end = last
        let urgent = Task(priority: .high) { try await end.value }
        await raised.pass()
        gate.open()
        try await urgent.value
    }

    // MARK: - Captured operations

    enum Kind: CaseIterable {
        case task, invocation, block, severalBlocks, completionBlock, condition, retry, failure
    }

    private struct Holder: Error { let operation: Operation }

    private func operation(_ kind: Kind, capturing previous: Operation) throws -> Operation {
        let operation: Operation
        switch kind {
        case .task: operation = TaskOperation { _ = previous.isFinished }
        case .invocation: operation = InvocationOperation(target: previous, method: Operation.cancel)
        case .block: operation = BlockOperation { _ = previous.isFinished }
        case .severalBlocks:
            let blocks = BlockOperation {}
            blocks.addExecutionBlock { _ = previous.isFinished }
            operation = blocks
        case .completionBlock:
            operation = Operation()
            operation.completionBlock = { _ = previous.isFinished }
        case .condition:
            operation = Operation()
            operation.addCondition(OperationCondition("previous") { previous.isFinished })
        case .retry: operation = RetryOperation(RetryPolicy(retries: 0)) { _ in previous }
        case .failure:
            operation = Operation()
            operation.reportFailure(Holder(operation: previous))
        }
        return operation
    }

    @Test(.onSmallStack, .tags(.slow), arguments: Kind.allCases, [false, true])
    func `a chain of operations, each of which has captured its predecessor, is released`(
        kind: Kind, dependsToo: Bool
    ) throws {
        var last = Operation()
        let first = Weak(last)
        for _ in 0..<Self.chain {
            let next = try operation(kind, capturing: last)
            if dependsToo { next.addDependency(last) }
            last = next
        }
        last = Operation()
        #expect(first.isGone)
    }
}
