#if Metrics
import CoreMetrics
import MetricsTestKit
import Operations
import OperationsObservability
import OperationsTesting
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct MetricsTests {
    private struct Failure: Error {}

    private let metrics = TestMetrics()
    private let executor = ManualExecutor()

    private func finished(_ outcome: String) throws -> Int {
        try Int(metrics.expectCounter("operations_finished", [("queue", "work"), ("outcome", outcome)]).totalValue)
    }

    private func level(_ label: String) throws -> Double {
        try metrics.expectMeter(label, [("queue", "work")]).values.last ?? 0
    }

    @Test func `operations are counted by their outcomes, and timed while they wait and run`() throws {
        let queue = executor.makeQueue()
        queue.name = "work"
        queue.emitMetrics(to: metrics)
        for _ in 0..<3 { queue.addOperation {} }
        let failing = queue.addTask { throw Failure() }
        let cancelled = BlockOperation {}
        queue.addOperation(cancelled)
        cancelled.cancel()
        #expect(try level("operations_waiting") == 5)
        executor.runUntilIdle()
        #expect(try metrics.expectCounter("operations_added", [("queue", "work")]).totalValue == 5)
        #expect(try finished("succeeded") == 3)
        #expect(try finished("failed") == 1)
        #expect(try finished("cancelled") == 1)
        #expect(try level("operations_waiting") == 0)
        #expect(try level("operations_executing") == 0)
        #expect(try metrics.expectTimer("operations_waited", [("queue", "work")]).values.count == 5)
        let ran = try metrics.expectTimer("operations_ran", [("queue", "work"), ("outcome", "succeeded")])
        #expect(ran.values.count == 3 && ran.values.allSatisfy { $0 >= 0 })
        withExtendedLifetime(failing) {}
    }

    @Test
    func
        `what was added before is not counted, nor what is added after the removal; the rest is brought to its end`()
        throws
    {
        let queue = executor.makeQueue()
        queue.addOperation {}
        let instrument = queue.emitMetrics(named: "work", to: metrics)
        executor.runUntilIdle()
        #expect(try finished("succeeded") == 0)
        queue.addOperation {}
        instrument.remove()
        queue.addOperation {}
        executor.runUntilIdle()
        #expect(try finished("succeeded") == 1)
        #expect(try metrics.expectCounter("operations_added", [("queue", "work")]).totalValue == 1)
        #expect(try level("operations_waiting") == 0 && level("operations_executing") == 0)
    }

    @Test func `queues without a name share their metrics, because an address is not the value of a dimension`() throws
    {
        for _ in 0..<3 {
            let queue = executor.makeQueue()
            queue.emitMetrics(to: metrics)
            queue.addOperation {}
        }
        executor.runUntilIdle()
        #expect(metrics.counters.filter { $0.label == "operations_added" }.count == 1)
        #expect(try metrics.expectCounter("operations_added", [("queue", "unnamed")]).totalValue == 3)
    }

    @Test func `a stall after the removal is not counted`() throws {
        let queue = OperationQueue()
        let instrument = queue.emitMetrics(named: "work", to: metrics)
        let notified = Gate()
        queue.stallHandler = { _ in notified.open() }
        queue.isSuspended = true
        queue.addOperation {}
        instrument.remove()
        queue.stallDelay = .milliseconds(1)
        notified.pass()
        #expect(try metrics.expectCounter("operations_stalls", [("queue", "work")]).totalValue == 0)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a meter has the number of executing operations`() async throws {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 2
        queue.emitMetrics(named: "work", to: metrics)
        let gate = AsyncGate()
        for _ in 0..<3 { queue.addTask { await gate.pass() } }
        executor.runUntilIdle()
        #expect(try level("operations_executing") == 2)
        #expect(try level("operations_waiting") == 1)
        gate.open()
        while queue.snapshot().executing + queue.snapshot().waiting > 0 { executor.runUntilIdle() }
        #expect(try level("operations_executing") == 0)
    }
}
#endif
