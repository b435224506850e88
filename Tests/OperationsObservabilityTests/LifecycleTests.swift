#if Lifecycle
import Logging
import Operations
import OperationsObservability
import ServiceLifecycle
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct LifecycleTests {
    private func group(_ service: OperationQueueService) -> ServiceGroup {
        ServiceGroup(services: [service], logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    @Test func `a graceful shutdown drains the queue, and refuses later operations`() async throws {
        let (queue, reports, gate) = (OperationQueue(name: "work"), Journal<ShutdownReport>(), AsyncGate())
        let service = OperationQueueService(queue, grace: .seconds(1000)) { reports.append($0) }
        let work = queue.addTask { await gate.pass() }
        let group = group(service)
        let running = Task { try await group.run() }
        await group.triggerGracefulShutdown()
        await untilTrue { queue.isShutDown }
        #expect(throws: OperationError.self) { try queue.tryAddOperation(BlockOperation {}) }
        gate.open()
        try await running.value
        #expect(reports.entries.count == 1 && reports.entries[0].isComplete && work.operationOutcome == .succeeded)
    }

    @Test func `a cancellation of the group ends the grace`() async {
        let (queue, reports, begun) = (OperationQueue(name: "work"), Journal<ShutdownReport>(), AsyncGate())
        let service = OperationQueueService(queue, grace: .seconds(1000)) { reports.append($0) }
        queue.addTask {
            begun.open()
            try await Task.sleep(for: .seconds(1000))
        }
        await begun.pass()
        let group = group(service)
        let running = Task { try await group.run() }
        running.cancel()
        _ = await running.result
        await untilTrue { !reports.entries.isEmpty }
        #expect(reports.entries[0].cancelled.count == 1 && reports.entries[0].unfinished.isEmpty)
    }
}
#endif
