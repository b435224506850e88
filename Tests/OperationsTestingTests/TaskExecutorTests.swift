import Operations
import OperationsTesting
import Testing

/// Rule N2, step by step.
struct TaskExecutorTests {
    /// The operation has the only slot, and its part on the queue waits for a slot of its own.
    @Test func `an operation that goes over to the serial queue that it is in continues when the limit is higher`() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        let operation = queue.addTask { await withTaskExecutorPreference(queue) {} }
        executor.runUntilIdle()
        #expect(!operation.isFinished)
        queue.maxConcurrentOperationCount = 2
        executor.runUntilIdle()
        #expect(operation.isFinished)
    }
}
