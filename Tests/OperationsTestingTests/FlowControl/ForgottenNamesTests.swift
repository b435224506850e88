import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rule A10: nothing is kept for names and pools that no operation uses any more.
@Suite(.timeLimit(.minutes(5))) struct ForgottenNamesTests {
    @Test func `exclusive names are removed when the last operation that needs them has ended`() {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        for round in 0..<Stress.rounds(2000, least: 400) {
            let name = "forgotten \(round)"
            let operations = (0..<3).map { _ in BlockOperation {} }
            for operation in operations { operation.addRequirement(.exclusive(name)) }
            queue.addOperations(operations, waitUntilFinished: false)
            if round.isMultiple(of: 3) { operations[1].cancel() }
            executor.runUntilIdle()
            #expect(!ResourcePool.isKnown(exclusiveName: name) && operations.allSatisfy { $0.isFinished })
        }
    }

    @Test func `a name is kept while an operation waits for it`() {
        let executor = ManualExecutor()
        let (queue, clock) = (executor.makeQueue(), VirtualClock())
        let operations = (0..<2).map { _ in TaskOperation { try await clock.sleep(for: .seconds(1)) } }
        for operation in operations {
            operation.addRequirement(.exclusive("known"))
            queue.addOperation(operation)
        }
        executor.runUntilIdle()
        #expect(ResourcePool.isKnown(exclusiveName: "known"))
        executor.runUntilIdle(advancing: clock)
        #expect(!ResourcePool.isKnown(exclusiveName: "known") && clock.now.offset == .seconds(2))
    }

    @Test func `a pool lives as long as operations require its resources`() throws {
        let executor = ManualExecutor()
        let queue = executor.makeQueue()
        for _ in 0..<100 {
            var pool: ResourcePool? = ResourcePool(["a": 1, "b": 2])
            let weakPool = Weak(pool)
            let operations = (0..<3).map { _ in BlockOperation {} }
            for operation in operations {
                operation.addRequirement(.units(1, of: "a", in: pool!))
                operation.addRequirement(.units(2, of: "b", in: pool!))
            }
            pool = nil
            #expect(!weakPool.isGone)
            queue.addOperations(operations, waitUntilFinished: false)
            executor.runUntilIdle()
            #expect(operations.allSatisfy { $0.isFinished })
        }
    }

    @Test func `deallocated pools leave nothing behind`() throws {
        let before = ResourcePool.resourceCount
        for _ in 0..<Stress.rounds(100_000, least: 20_000) { _ = ResourcePool(["a": 1]) }
        // Other tests create their own pools at the same time.
        #expect(ResourcePool.resourceCount < before + 10_000)
    }
}
