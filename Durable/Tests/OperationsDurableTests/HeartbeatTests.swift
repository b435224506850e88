import Dispatch
import DurableCore
import Foundation
import Operations
import Testing

@testable import OperationsDurable

@Suite struct HeartbeatTests {
    @Test func `R7: a worker renews its leases while tasks occupy all threads of the concurrency runtime`() async {
        // In a process of its own, because all other tasks of the process stand still.
        await #expect(processExitsWith: .success) {
            let queue = Operations.OperationQueue()
            queue.maxConcurrentOperationCount = 4
            try await withTaskExecutorPreference(queue) { try await HeartbeatTests.renewLeasesWithoutRuntime() }
        }
    }

    private static func renewLeasesWithoutRuntime() async throws {
        try await withTemporaryFile { path in
            let store = try await SQLiteStore(path: path)
            var configuration = DurableWorker.Configuration()
            configuration.lease = .milliseconds(300)
            let worker = try DurableWorker(
                store, queues: ["q": .limit(1)], operations: [Sum.self], configuration: configuration)
            let running = Task { try await worker.run() }
            func registration() async throws -> WorkerRow? { try await store.read { try $0.rows.workers().first } }
            func poll(_ condition: () async throws -> Bool) async throws {
                while try await !condition() { try await OperationClock().sleep(for: .milliseconds(2)) }
            }
            try await poll { try await registration() != nil }
            let first = try await registration()
            let (blocked, isOver) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
            let count = ProcessInfo.processInfo.activeProcessorCount * 4
            for _ in 0..<count {
                Task.detached {
                    blocked.signal()
                    block(isOver)
                }
            }
            for _ in 0..<ProcessInfo.processInfo.activeProcessorCount { block(blocked) }
            for _ in 0..<3 {
                let before = try await registration()
                try await poll { try await registration()?.leaseEnd != before?.leaseEnd }
                // A worker whose leases have expired registers again.
                let present = try await registration()
                precondition(present?.id == first?.id)
            }
            let sum = try await DurableQueue("q", in: store).add(Sum(a: 1, b: 2)).value
            precondition(sum == 3)
            for _ in 0..<count { isOver.signal() }
            running.cancel()
            try await running.value
        }
    }

    /// Blocks the thread of a task on purpose.
    private static func block(_ semaphore: DispatchSemaphore) { semaphore.wait() }
}
