import Operations
import Synchronization
import TestSupport
import Testing

/// Rule L7: asynchronous operations.
@Suite(.timeLimit(.minutes(5))) struct LifeAsynchronousTests {
    /// Rule L7.
    @Test(arguments: Spelling.allCases)
    func `the slot is free when the end was announced and not before`(spelling: Spelling) {
        let queue = OperationQueue.serial()
        let operation = SpellingOperation(spelling)
        let second = CountingOperation()
        queue.addOperation(operation)
        queue.addOperation(second)
        operation.began.pass()
        operation.finishSilently()
        // A change of the queue makes the queue look for an operation to start.
        queue.isSuspended = true
        queue.isSuspended = false
        let other = OperationQueue()
        other.addOperation {}
        other.waitUntilAllOperationsAreFinished()
        #expect(second.runCount == 0 && queue.countNow == 2)
        operation.finish()
        second.waitUntilFinished()
        #expect(second.runCount == 1)
        #expect(operation.starts.load(ordering: .relaxed) == 1)
    }

    /// Rule L7.
    @Test func `announcing the end while isFinished is false frees nothing`() {
        let queue = OperationQueue.serial()
        let operation = SpellingOperation()
        let second = CountingOperation()
        queue.addOperation(operation)
        queue.addOperation(second)
        operation.began.pass()
        operation.willChangeValue(forKey: "isFinished")
        operation.didChangeValue(forKey: "isFinished")
        #expect(queue.countNow == 2)
        operation.finish()
        queue.waitUntilAllOperationsAreFinished()
        #expect(second.runCount == 1)
    }

    /// Rule L7.
    @Test(.tags(.threads)) func `announcing the end many times and from many threads finishes once`() {
        for _ in 0..<100 {
            let queue = OperationQueue()
            let operation = SpellingOperation()
            let completions = Atomic(0)
            let completed = Gate()
            operation.completionBlock = {
                completions.add(1, ordering: .relaxed)
                completed.open()
            }
            queue.addOperation(operation)
            operation.began.pass()
            let meeting = Gate(3)
            let threads = (0..<3).map { _ in
                TestThread {
                    meeting.meet()
                    operation.finish()
                    operation.finish()
                }
            }
            threads.forEach { $0.join() }
            completed.pass()
            queue.waitUntilAllOperationsAreFinished()
            #expect(completions.load(ordering: .relaxed) == 1)
            #expect(queue.countNow == 0)
        }
    }

    /// Rule L7.
    @Test func `start may end the operation before it returns`() {
        let queue = OperationQueue.serial()
        let operations = (0..<500).map { _ in AsynchronousOperation() }
        for operation in operations { operation.onStart = { $0.finish() } }
        operations.forEach(queue.addOperation)
        queue.waitUntilAllOperationsAreFinished()
        #expect(operations.allSatisfy { $0.isFinished })
    }

    /// Rule L7.
    @Test func `start may continue after the end, and delays no other operation`() {
        let queue = OperationQueue.serial()
        let mayReturn = Gate()
        let first = AsynchronousOperation()
        first.onStart = {
            $0.finish()
            mayReturn.pass()
        }
        let second = CountingOperation()
        queue.addOperation(first)
        queue.addOperation(second)
        second.waitUntilFinished()
        #expect(second.runCount == 1)
        mayReturn.open()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule L7.
    @Test func `an asynchronous operation started by hand finishes, completes and frees its dependents`() {
        let operation = AsynchronousOperation()
        let completed = Gate()
        operation.completionBlock = { completed.open() }
        let dependent = CountingOperation()
        dependent.addDependency(operation)
        let queue = OperationQueue()
        queue.addOperation(dependent)
        operation.start()
        #expect(operation.isExecuting && !dependent.isReady)
        operation.finish()
        dependent.waitUntilFinished()
        completed.pass()
        #expect(dependent.runCount == 1)
    }
}
