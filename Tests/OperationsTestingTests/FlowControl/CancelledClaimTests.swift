import Operations
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct CancelledClaimTests {
    @Test func `a cancelled operation in a full queue does not keep resources from other operations`() throws {
        let executor = ManualExecutor()
        let clock = VirtualClock()
        let pool = ResourcePool(["units": 1])
        let name = "cancelled claim \(ObjectIdentifier(executor))"
        let (serial, others) = (executor.makeQueue(), executor.makeQueue())
        serial.maxConcurrentOperationCount = 1
        let holder = TaskOperation { try await clock.sleep(for: .seconds(2)) }
        holder.addRequirement(.units(1, of: "units", in: pool))
        others.addOperation(holder)
        executor.runUntilIdle()
        // The operation requests both resources and is first in line for the name.
        let cancelled = BlockOperation {}
        cancelled.addRequirement(.units(1, of: "units", in: pool))
        cancelled.addRequirement(.exclusive(name))
        serial.addOperation(cancelled)
        executor.runUntilIdle()
        serial.addTask { try await clock.sleep(for: .seconds(1)) }
        executor.runUntilIdle()
        cancelled.cancel()
        let ran = Guarded(false)
        let other = BlockOperation { ran.withLock { $0 = true } }
        other.addRequirement(.exclusive(name))
        others.addOperation(other)
        executor.runUntilIdle()
        #expect(ran.withLock { $0 } && !cancelled.isFinished && !holder.isFinished)
        executor.runUntilIdle(advancing: clock)
        #expect(cancelled.isFinished && holder.isFinished)
        let usage = pool.usage(of: "units")
        #expect(usage == ResourcePool.Usage(capacity: 1, inUse: 0, waiting: 0))
    }
}
