import Operations
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ConditionTests {
    private static let holds = OperationCondition("holds") { true }
    private static let fails = OperationCondition("fails") { false }
    private static let throwsError = OperationCondition("throws") { _ in throw Failure.expected }

    @Test func `conditions are composed by and, or and not`() async {
        let (yes, no, error) = (Self.holds, Self.fails, Self.throwsError)
        let cases: [(OperationCondition, Bool)] = [
            (yes, true), (no, false), (error, false), (!yes, false), (!no, true), (!error, true),
            (yes && yes, true), (yes && no, false), (no && yes, false), (yes || no, true), (no || yes, true),
            (no || error, false), (!(yes && no) && (error || yes), true),
        ]
        for (condition, isSatisfied) in cases {
            let operation = CountingOperation()
            operation.addCondition(condition)
            await OperationQueue().addOperations([operation], waitUntilFinished: true)
            #expect(operation.runCount == (isSatisfied ? 1 : 0), "\(condition.name)")
            #expect(operation.isCancelled == !isSatisfied, "\(condition.name)")
        }
        #expect((!(yes && no) || error).name == "(not (holds and fails) or throws)")
    }

    @Test func `an operation whose condition is not satisfied fails with the reason`() async {
        let queue = OperationQueue()
        let operation = TaskOperation { 1 }
        operation.addCondition(Self.holds)
        operation.addCondition(Self.throwsError)
        queue.addOperation(operation)
        do {
            _ = try await operation.value
            Issue.record("it has run")
        } catch let error as OperationConditionFailure {
            #expect(error.condition == "throws" && error.reason as? Failure == .expected)
            #expect(error.description == "condition 'throws' was not satisfied: expected")
        } catch {
            Issue.record("\(error)")
        }
    }

    private final class Uncancellable: Operation, @unchecked Sendable {
        // Sendable: a journal.
        let journal = Journal<String>()
        override func cancel() { journal.append("cancel") }
        override func main() { journal.append("main") }
    }

    /// Rule A4.
    @Test func `an operation whose cancel() does nothing is tested once, and runs although the test has failed`()
        async
    {
        let operation = Uncancellable()
        operation.addCondition(
            OperationCondition("fails") { _ in
                operation.journal.append("test")
                throw Failure.expected
            })
        await OperationQueue().addOperations([operation], waitUntilFinished: true)
        #expect(operation.journal.entries == ["test", "cancel", "main"])
    }

    /// Rule A4.
    @Test func `an operation whose cancel() does nothing waits for its requirements although a dependency has failed`()
        async
    {
        let (queue, operation, failed) = (OperationQueue(), Uncancellable(), Operation())
        let (begins, mayEnd) = (AsyncGate(), AsyncGate())
        let holder = TaskOperation {
            begins.open()
            await mayEnd.pass()
            operation.journal.append("holder")
        }
        for user in [holder, operation] { user.addRequirement(.exclusive("a name of ConditionTests")) }
        queue.addOperation(holder)
        await begins.pass()
        failed.cancel()
        operation.addDependency(failed)
        operation.dependencyFailurePolicy = .fail
        for added in [failed, operation] { queue.addOperation(added) }
        while operation.journal.entries.isEmpty { await Task.yield() }
        OperationQueue.settle()
        mayEnd.open()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(operation.journal.entries.last == "main" && operation.journal.entries.contains("holder"))
    }

    @Test func `no slot is held while a condition is tested`() async {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let isOpen = AsyncGate()
        let begins = AsyncGate()
        let operation = TaskOperation { 1 }
        operation.addCondition(
            OperationCondition("opened") { _ in
                begins.open()
                await isOpen.pass()
            })
        queue.addOperation(operation)
        await begins.pass()
        let other = queue.addTask { 2 }
        await other.waitUntilFinished()
        #expect(!operation.isFinished && !operation.isExecuting)
        #expect(queue.explain(operation).reasons == [.conditions(["opened"])])
        #expect(queue.stallReport() == nil)
        isOpen.open()
        await operation.waitUntilFinished()
        #expect(operation.operationOutcome.described == "succeeded")
    }

    @Test func `conditions are tested once, when all dependencies have finished`() async {
        let queue = OperationQueue()
        let log = Journal<String>()
        let dependency = BlockOperation { log.append("dependency") }
        let operation = BlockOperation { log.append("operation") }
        operation.addCondition(OperationCondition("logged") { _ in log.append("condition") })
        operation.addDependency(dependency)
        queue.addOperation(operation)
        queue.addOperation(dependency)
        await operation.waitUntilFinished()
        #expect(log.entries == ["dependency", "condition", "operation"])
    }

    @Test func `a dependency added while a condition is tested holds the operation back`() async {
        let queue = OperationQueue()
        let begins = AsyncGate()
        let mayEnd = AsyncGate()
        let log = Journal<String>()
        let operation = BlockOperation { log.append("operation") }
        operation.addCondition(.opened(begins, mayEnd))
        queue.addOperation(operation)
        await begins.pass()
        let dependency = BlockOperation { log.append("dependency") }
        operation.addDependency(dependency)
        mayEnd.open()
        queue.addOperation(dependency)
        await operation.waitUntilFinished()
        #expect(log.entries == ["dependency", "operation"])
    }

    @Test func `an operation that is cancelled while its condition is tested ends at once`() async {
        let queue = OperationQueue()
        for _ in 0..<300 {
            let mayEnd = AsyncGate()
            let begins = AsyncGate()
            let hasEnded = AsyncGate()
            let operation = CountingOperation()
            operation.addCondition(
                OperationCondition("opened") { _ in
                    begins.open()
                    await mayEnd.pass()
                    hasEnded.open()
                })
            queue.addOperation(operation)
            await begins.pass()
            operation.cancel()
            await operation.waitUntilFinished()
            #expect(operation.runCount == 0)
            mayEnd.open()
            await hasEnded.pass()
        }
        #expect(queue.countNow == 0)
    }

    @Test func `a barrier waits for an operation whose condition is tested`() async {
        let queue = OperationQueue()
        for _ in 0..<100 {
            let log = Journal<Int>()
            let operation = BlockOperation { log.append(1) }
            operation.addCondition(OperationCondition("yields") { _ in await Task.yield() })
            queue.addOperation(operation)
            queue.addBarrierBlock { log.append(2) }
            queue.addOperation { log.append(3) }
            await queue.waitUntilAllOperationsAreFinished()
            if log.entries != [1, 2, 3] { Issue.record("\(log.entries)") }
        }
    }

    @Test func `a condition that is satisfied while its queue is suspended waits for the queue`() async {
        let queue = OperationQueue()
        let begins = AsyncGate()
        let mayEnd = AsyncGate()
        let operation = CountingOperation()
        operation.addCondition(.opened(begins, mayEnd))
        queue.addOperation(operation)
        await begins.pass()
        queue.isSuspended = true
        mayEnd.open()
        #expect(operation.runCount == 0)
        queue.isSuspended = false
        await operation.waitUntilFinished()
        #expect(operation.runCount == 1)
    }

    @Test func `a condition added while others are tested, or after, is tested too`() async {
        let queue = OperationQueue()
        let begins = AsyncGate()
        let mayEnd = AsyncGate()
        let operation = CountingOperation()
        operation.addCondition(.opened(begins, mayEnd))
        queue.addOperation(operation)
        await begins.pass()
        operation.addCondition(Self.fails)
        mayEnd.open()
        await operation.waitUntilFinished()
        #expect(operation.runCount == 0)
    }

    @Test func `the test of a condition is cancelled with its operation`() async {
        let begins = AsyncGate()
        let isCancelled = AsyncGate()
        let operation = CountingOperation()
        operation.addCondition(
            OperationCondition("endless") { _ in
                begins.open()
                while !Task.isCancelled { await Task.yield() }
                isCancelled.open()
            })
        OperationQueue().addOperation(operation)
        await begins.pass()
        operation.cancel()
        await isCancelled.pass()
    }

    @Test func `a condition that comes too late is misuse`() {
        let operation = BlockOperation {}
        operation.start()
        #expect(throws: OperationError.self) { try operation.tryAddCondition(Self.holds) }
        #expect(throws: OperationError.self) { try operation.tryAddRequirement(.exclusive("late")) }
    }
}

extension OperationCondition {
    /// Notifies the test when it begins, and ends when the test permits it.
    fileprivate static func opened(_ begins: AsyncGate, _ mayEnd: AsyncGate) -> OperationCondition {
        OperationCondition("opened") { _ in
            begins.open()
            await mayEnd.pass()
        }
    }
}
