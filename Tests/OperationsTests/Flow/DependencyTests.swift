import Operations
import TestSupport
import Testing

/// Section 2: dependencies.
@Suite(.timeLimit(.minutes(5))) struct DependencyTests {
    /// Rule D1.
    @Test(arguments: [false, true])
    func `a dependent starts after its dependency has finished, by success or by cancellation`(isCancelled: Bool) {
        let queue = OperationQueue()
        let log = Journal<String>()
        let first = BlockOperation { log.append("first") }
        let second = BlockOperation { log.append("second") }
        second.addDependency(first)
        queue.addOperation(second)
        #expect(!second.isReady)
        if isCancelled { first.cancel() }
        queue.addOperation(first)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == (isCancelled ? ["second"] : ["first", "second"]))
    }

    /// Rule D2.
    @Test func `dependencies work across queues and for operations in no queue`() {
        let (one, two) = (OperationQueue(), OperationQueue())
        let log = Journal<String>()
        let byHand = BlockOperation { log.append("by hand") }
        let inOne = BlockOperation { log.append("one") }
        let inTwo = BlockOperation { log.append("two") }
        inOne.addDependency(byHand)
        inTwo.addDependency(inOne)
        two.addOperation(inTwo)
        one.addOperation(inOne)
        byHand.start()
        inTwo.waitUntilFinished()
        #expect(log.entries == ["by hand", "one", "two"])
    }

    /// Rule D2.
    @Test func `a dependency added while the operation waits for a slot delays the operation`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let gate = Gate()
        let log = Journal<String>()
        queue.addOperation { gate.pass() }
        let late = BlockOperation { log.append("late") }
        let held = BlockOperation { log.append("held") }
        queue.addOperation(held)
        let last = BlockOperation { log.append("last") }
        queue.addOperation(last)
        held.addDependency(late)
        gate.open()
        last.waitUntilFinished()
        #expect(log.entries == ["last"])
        queue.addOperation(late)
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["last", "late", "held"])
    }

    /// Rule D2: the operation was removed from its lane and put back. Its place by arrival has not changed.
    @Test func `an operation that is delayed by a dependency keeps its place in the order of adding`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 1
        let gate = Gate()
        let log = Journal<Int>()
        queue.addOperation { gate.pass() }
        let operations = (0..<5).map { i in BlockOperation { log.append(i) } }
        queue.addOperations(operations, waitUntilFinished: false)
        let never = BlockOperation {}
        operations[1].addDependency(never)
        operations[1].removeDependency(never)
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [0, 1, 2, 3, 4])
    }

    /// Rule D3.
    @Test func `a dependency added to an executing operation does not stop it`() {
        let queue = OperationQueue()
        let (running, gate) = (Gate(), Gate())
        let operation = BlockOperation {
            running.open()
            gate.pass()
        }
        queue.addOperation(operation)
        running.pass()
        let never = BlockOperation {}
        operation.addDependency(never)
        #expect(operation.dependencies == [never])
        gate.open()
        operation.waitUntilFinished()
        operation.addDependency(BlockOperation {})
        #expect(operation.isFinished)
    }

    /// Rules D3 and L14: the queue does not know the operation, so only its `isExecuting` shows that it runs.
    @Test func `a dependency added to an operation of the classic style that was started by hand leaves it ready`() {
        let operation = AsynchronousOperation()
        operation.start()
        let never = BlockOperation {}
        operation.addDependency(never)
        #expect(operation.isReady)
        #expect(operation.dependencies == [never])
        operation.finish()
    }

    /// Rule D3.
    @Test func `a dependency added twice counts once`() {
        let first = BlockOperation {}
        let second = BlockOperation {}
        second.addDependency(first)
        second.addDependency(first)
        #expect(second.dependencies == [first])
        second.removeDependency(first)
        #expect(second.isReady)
        second.addDependency(first)
        first.start()
        #expect(second.isReady)
    }

    /// Rule D3.
    @Test func `a finished dependency leaves the operation ready`() {
        let first = BlockOperation {}
        first.start()
        let second = BlockOperation {}
        second.addDependency(first)
        #expect(second.isReady)
        #expect(second.dependencies == [first])
    }

    enum DependencyState: CaseIterable { case fresh, cancelled, executing, finished, queued }

    /// Rule D4.
    @Test(arguments: DependencyState.allCases, [false, true])
    func `removing a dependency undoes adding it, in every state`(state: DependencyState, isQueued: Bool) {
        let other = OperationQueue()
        let (running, gate) = (Gate(), Gate())
        let dependency = BlockOperation {
            running.open()
            gate.pass()
        }
        let queue = OperationQueue()
        let log = Journal<String>()
        let operation = BlockOperation { log.append("ran") }
        operation.addDependency(dependency)
        if isQueued { queue.addOperation(operation) }
        switch state {
        case .fresh: break
        case .cancelled: dependency.cancel()
        case .executing:
            other.addOperation(dependency)
            running.pass()
        case .finished:
            gate.open()
            dependency.start()
        case .queued:
            other.isSuspended = true
            other.addOperation(dependency)
        }
        operation.removeDependency(dependency)
        #expect(operation.dependencies.isEmpty)
        #expect(operation.isReady)
        if !isQueued { queue.addOperation(operation) }
        operation.waitUntilFinished()
        #expect(log.entries == ["ran"])
        gate.open()
        other.isSuspended = false
        other.waitUntilAllOperationsAreFinished()
    }

    /// Rule D4.
    @Test func `removing one of two dependencies keeps the other one`() {
        let queue = OperationQueue()
        let (first, second) = (BlockOperation {}, BlockOperation {})
        let operation = BlockOperation {}
        operation.addDependency(first)
        operation.addDependency(second)
        queue.addOperation(operation)
        operation.removeDependency(first)
        first.start()
        #expect(!operation.isReady)
        second.start()
        operation.waitUntilFinished()
    }

    /// Rule D4.
    @Test func `removing an operation that is not a dependency has no effect`() {
        let (first, second) = (BlockOperation {}, BlockOperation {})
        let operation = BlockOperation {}
        operation.removeDependency(first)
        operation.addDependency(first)
        operation.removeDependency(second)
        #expect(operation.dependencies == [first])
        #expect(!operation.isReady)
    }

    /// Rule D5.
    @Test func `dependencies stay listed in the order added, finished or not`() {
        let operation = BlockOperation {}
        let dependencies = (0..<100).map { _ in BlockOperation {} }
        for dependency in dependencies { operation.addDependency(dependency) }
        for dependency in dependencies[..<50] { dependency.start() }
        #expect(operation.dependencies == dependencies)
        for index in stride(from: 0, to: 100, by: 2) { operation.removeDependency(dependencies[index]) }
        #expect(operation.dependencies == stride(from: 1, to: 100, by: 2).map { dependencies[$0] })
    }

    /// Rule D7, M7.
    @Test func `a dependency on itself is refused and changes nothing`() {
        let operation = BlockOperation {}
        #expect(throws: OperationError.self) { try operation.tryAddDependency(operation) }
        #expect(operation.dependencies.isEmpty)
        #expect(operation.isReady)
    }

    /// Rules D3 and L14: the end of the dependency was not announced, but its `isFinished` is true.
    @Test func `a dependency whose overridden isFinished is true delays no operation`() {
        let dependency = SpellingOperation()
        dependency.finishSilently()
        let operation = BlockOperation {}
        operation.addDependency(dependency)
        #expect(operation.isReady)
        #expect(operation.dependencies == [dependency])
    }

    /// Finishes between the read of `isFinished` and the return of false.
    private final class FinishesWhenAsked: Operation, @unchecked Sendable {
        private let isAsked = Guarded(false)

        override var isFinished: Bool {
            let answer = super.isFinished
            let isFirst = isAsked.withLock { isAsked in
                defer { isAsked = true }
                return !isAsked
            }
            if isFirst { start() }
            return answer
        }
    }

    /// Rule D9.
    @Test func `a dependency that finishes while it is being added delays no operation`() {
        let dependency = FinishesWhenAsked()
        let operation = BlockOperation {}
        operation.addDependency(dependency)
        #expect(dependency.isFinished && operation.isReady)
    }
}
