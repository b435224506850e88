#if Metrics
import CoreMetrics
import MetricsTestKit
import Operations
import Testing

@testable import OperationsDashboard

#if Durable
import OperationsDurable
#endif

@Suite struct DashboardMetricsTests {
    private let metrics = TestMetrics()

    private func value(_ label: String, _ dimensions: [(String, String)]) throws -> Double? {
        try metrics.expectGauge(label, dimensions).lastValue
    }

    @Test func `the numbers of a queue are gauges without a page, and go with the queue`() async throws {
        let dashboard = Dashboard()
        var queue: OperationQueue? = OperationQueue(name: "pages", maxConcurrentOperationCount: 1)
        queue?.isSuspended = true
        let operations = (0..<3).map { _ in BlockOperation {} }
        for operation in operations { queue?.addOperation(operation) }
        dashboard.add(queue!)
        var gauges = EmittedGauges(metrics)
        gauges.emit(await dashboard.readings())
        #expect(try value("operations_depth", [("queue", "pages"), ("state", "waiting")]) == 3)
        #expect(try value("operations_depth", [("queue", "pages"), ("state", "running")]) == 0)
        #expect(try value("operations_suspended", [("queue", "pages")]) == 1)
        #expect(try value("operations_limit", [("queue", "pages")]) == 1)
        #expect(try #require(try value("operations_oldest_seconds", [("queue", "pages")])) >= 0)
        queue?.isSuspended = false
        await queue?.waitUntilAllOperationsAreFinished()
        gauges.emit(await dashboard.readings())
        #expect(try value("operations_depth", [("queue", "pages"), ("state", "waiting")]) == 0)
        queue = nil
        let readings = await dashboard.readings()
        gauges.emit(readings)
        #expect(readings.isEmpty && metrics.recorders.isEmpty)
    }

    @Test func `queues of one name are one gauge with the sum`() async throws {
        let queues = (0..<2).map { _ in OperationQueue(name: "pages", maxConcurrentOperationCount: 1) }
        let dashboard = Dashboard()
        for queue in queues {
            queue.isSuspended = true
            queue.addOperation {}
            dashboard.add(queue)
        }
        var gauges = EmittedGauges(metrics)
        gauges.emit(await dashboard.readings())
        #expect(try value("operations_depth", [("queue", "pages"), ("state", "waiting")]) == 2)
        for queue in queues { queue.isSuspended = false }
    }

    @Test func `the emission ends with its task, and destroys its gauges`() async throws {
        let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 1)
        let dashboard = Dashboard()
        dashboard.add(queue)
        let emission = Task { await dashboard.emitMetrics(every: .seconds(3600), to: metrics) }
        while metrics.recorders.isEmpty { await Task.yield() }
        emission.cancel()
        await emission.value
        #expect(metrics.recorders.isEmpty)
    }

    #if Durable
    @Test func `the numbers of a store are gauges`() async throws {
        try await withStore { store in
            let queue = DurableQueue("photos", in: store)
            for number in 0..<4 { try await queue.add(Resize(photo: "\(number)")) }
            let dashboard = Dashboard()
            dashboard.add(store, name: "work")
            var gauges = EmittedGauges(metrics)
            gauges.emit(await dashboard.readings())
            let dimensions = [("store", "work"), ("queue", "photos")]
            #expect(try value("durable_depth", dimensions + [("state", "ready")]) == 4)
            #expect(try value("durable_workers", [("store", "work")]) == 0)
            #expect(try #require(try value("durable_oldest_ready_seconds", dimensions)) >= 0)
        }
    }

    private struct Resize: DurableOperation {
        static let name = "resize"
        var photo: String
        func run(_ context: DurableContext) async throws {}
    }
    #endif
}
#endif
