import Operations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct DependencyFailureTests {
    @Test func `an operation knows how it ended, and not before it has`() async {
        let queue = OperationQueue()
        let succeeds = BlockOperation {}
        let fails = FailingOperation()
        let cancelled = BlockOperation {}
        #expect(succeeds.operationOutcome == nil)
        cancelled.cancel()
        #expect(cancelled.operationOutcome == nil)
        await queue.addOperations([succeeds, fails, cancelled], waitUntilFinished: true)
        #expect(succeeds.operationOutcome.described == "succeeded")
        #expect(fails.operationOutcome.described == "failed: expected")
        #expect(cancelled.operationOutcome.described == "was cancelled")
    }

    @Test func `of several failures the first counts, and a failure after the end has no effect`() {
        let operation = FailingOperation(.expected, .other)
        operation.start()
        operation.reportFailure(Failure.other)
        #expect(operation.operationOutcome.described == "failed: expected")
        let other = BlockOperation {}
        other.start()
        other.reportFailure(Failure.other)
        #expect(other.operationOutcome.described == "succeeded")
    }

    @Test(arguments: [nil, DependencyFailurePolicy.runAnyway, .cancel, .fail], ["fails", "is cancelled"])
    func `the policy decides about an operation whose dependency did not succeed`(
        policy: DependencyFailurePolicy?, fate: String
    ) async {
        let queue = OperationQueue()
        let hasRun = Guarded(false)
        let dependency: Operation = fate == "fails" ? FailingOperation() : BlockOperation {}
        if fate == "is cancelled" { dependency.cancel() }
        let dependent = BlockOperation { hasRun.withLock { $0 = true } }
        if let policy { dependent.dependencyFailurePolicy = policy }
        let last = CountingOperation()
        dependent.addDependency(dependency)
        last.addDependency(dependent)
        await queue.addOperations([last, dependent, dependency], waitUntilFinished: true)
        #expect(last.runCount == 1 && queue.countNow == 0)
        switch policy {
        case nil, .runAnyway:
            #expect(hasRun.withLock { $0 } && dependent.operationOutcome.described == "succeeded")
        case .cancel:
            #expect(!hasRun.withLock { $0 } && dependent.operationOutcome.described == "was cancelled")
        case .fail:
            #expect(!hasRun.withLock { $0 } && dependent.isCancelled)
            let error = dependent.operationOutcome.error as? DependencyFailure
            if fate == "fails" { #expect(error?.dependency == "FailingOperation 'expected'") }
            #expect((error?.rootCause as? Failure) == (fate == "fails" ? .expected : nil))
        }
    }

    @Test func `a policy lets an operation run whose dependencies all succeeded`() async {
        let queue = OperationQueue()
        for policy in [DependencyFailurePolicy.cancel, .fail] {
            let dependent = CountingOperation()
            dependent.dependencyFailurePolicy = policy
            dependent.addDependency(CountingOperation())
            await queue.addOperations(dependent.dependencies + [dependent], waitUntilFinished: true)
            #expect(dependent.runCount == 1 && dependent.operationOutcome.described == "succeeded")
        }
    }

    @Test func `a chain of failures names its first cause`() async {
        let queue = OperationQueue()
        var operations: [Operation] = [FailingOperation()]
        for _ in 0..<10 {
            let next = TaskOperation {}
            next.dependencyFailurePolicy = .fail
            next.addDependency(operations.last!)
            operations.append(next)
        }
        await queue.addOperations(operations, waitUntilFinished: true)
        let last = operations.last!.operationOutcome.error as? DependencyFailure
        #expect(last?.rootCause as? Failure == .expected)
    }

    @Test(.onSmallStack, .tags(.slow))
    func `a chain of failures of any length is described and released`() async {
        let queue = OperationQueue()
        var last: Operation = FailingOperation()
        queue.addOperation(last)
        for _ in 0..<Stress.rounds(100_000, least: 5_000) {
            let next = BlockOperation {}
            next.dependencyFailurePolicy = .fail
            next.addDependency(last)
            queue.addOperation(next)
            last = next
        }
        await last.waitUntilFinished()
        let error = last.operationOutcome.error as? DependencyFailure
        #expect(error?.rootCause as? Failure == .expected && error!.description.hasSuffix("because of: expected"))
    }

    @Test func `an operation of the classic asynchronous kind is cancelled before its start is called`() async {
        let queue = OperationQueue()
        let operation = AsynchronousOperation()
        operation.dependencyFailurePolicy = .cancel
        operation.addDependency(FailingOperation())
        await queue.addOperations(operation.dependencies + [operation], waitUntilFinished: true)
        #expect(operation.isCancelled && operation.isFinished)
    }
}

/// Reports failures from its work.
private final class FailingOperation: Operation, @unchecked Sendable {
    private let failures: [Failure]

    init(_ failures: Failure...) {
        self.failures = failures.isEmpty ? [.expected] : failures
        super.init()
        name = "\(self.failures[0])"
    }

    override func main() { for failure in failures { reportFailure(failure) } }
}
