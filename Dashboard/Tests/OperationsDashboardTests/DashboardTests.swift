import Operations
import Synchronization
import Testing

@testable import OperationsDashboard

@Suite struct DashboardTests {
    @Test func `the printed address opens the page, and the page finds its files`() async throws {
        try await withDashboard { _, port in
            let client = RawClient(port: port)
            client.send("GET /?token=secret HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\n\r\n")
            let page = try #require(client.response())
            #expect(page.status == 200 && page.head.contains("Set-Cookie: operations-dashboard-\(port)=secret;"))
            #expect(page.body.contains("/dashboard.js") && page.body.contains("/dashboard.css"))
            // Same connection.
            for file in ["/dashboard.js", "/dashboard.css"] {
                client.send(head(file, port))
                #expect(client.response()?.status == 200)
            }
        }
    }

    @Test func `a page shows why operations wait, and that they have ended`() async throws {
        let queue = OperationQueue(name: "pages", maxConcurrentOperationCount: 1)
        let (begins, mayEnd) = (Gate(), Gate())
        queue.addTask(name: "first") {
            begins.open()
            await mayEnd.pass()
        }
        queue.addTask(name: "second") {}
        await begins.pass()
        try await withDashboard(.init(), [queue]) { _, port in
            let stream = RawClient(port: port)
            stream.send(head("/api/events", port))
            let first = try #require(frame(with: #""name":"pages","running":1"#, stream))
            #expect(first.contains(#""ready":1,"waiting":0"#) && first.contains(#""reasons":[["slot",1]]"#))
            let rows = get("/api/operations?source=s0", port).body
            #expect(rows.contains("limit 1") && rows.contains("TaskOperation 'first'") && rows.contains(#""total":2"#))
            mayEnd.open()
            await queue.waitUntilAllOperationsAreFinished()
            #expect(frame(with: #""done":2"#, stream) != nil)
            #expect(get("/api/operations?source=s0&state=done&text=SEC", port).body.contains(#""name":"second""#))
            #expect(get("/api/timeline?source=s0&seconds=600", port).body.contains(#""name":"first","state":"done""#))
        }
    }

    @Test func `a stalled queue has its report, and the graph has its path`() async throws {
        let queue = OperationQueue(name: "stuck")
        queue.stallDelay = .zero
        let login = TaskOperation(name: "login") {}
        let page = queue.addTask(name: "page", after: [login]) {}
        try await withDashboard(.init(), [queue]) { _, port in
            let state = get("/api/state", port).body
            #expect(state.contains("queue 'stuck' is stalled") && state.contains("root: TaskOperation 'login'"))
            #expect(get("/api/graph?source=s0", port).body.contains(#""name":"page","state":"waiting""#))
        }
        queue.addOperation(login)
        await page.waitUntilFinished()
    }

    @Test func `a failed operation has its error, and its failure stays unread`() async throws {
        struct Broken: Error, CustomStringConvertible { let description = "no <disk>" }
        let queue = OperationQueue(name: "failing")
        let reports = AsyncStream.makeStream(of: String.self)
        queue.unhandledFailureHandler = { reports.continuation.yield("\($0.error)") }
        try await withDashboard(.init(), [queue]) { _, port in
            let stream = RawClient(port: port)
            stream.send(head("/api/events", port))
            _ = frame(with: "failing", stream)
            queue.addTask(name: "broken") { throw Broken() }
            #expect(frame(with: #""failed":1"#, stream) != nil)
            #expect(get("/api/operations?source=s0&state=failed", port).body.contains(#"no \u003cdisk\u003e"#))
        }
        for await report in reports.stream {
            #expect(report == "no <disk>")
            break
        }
    }

    @Test func `no change is possible unless the program permits it`() async throws {
        let queue = OperationQueue(name: "fixed")
        try await withDashboard(.init(), [queue]) { _, port in
            #expect(steer("source=s0&action=suspend", port) == 403 && !queue.isSuspended)
        }
    }

    @Test func `a permitted page suspends, limits, cancels and changes priorities`() async throws {
        let queue = OperationQueue(name: "steered", maxConcurrentOperationCount: 1)
        queue.isSuspended = true
        let (first, second) = (BlockOperation {}, BlockOperation {})
        (first.name, second.name) = ("first", "second")
        for operation in [first, second] { queue.addOperation(operation) }
        var configuration = Dashboard.Configuration()
        configuration.permitsSteering = true
        try await withDashboard(configuration, [queue]) { _, port in
            _ = get("/api/operations?source=s0", port)
            #expect(steer("source=s0&action=priority&ids=\(second.eventID)&value=2", port) == 200)
            #expect(second.queuePriority == .veryHigh && first.queuePriority == .normal)
            #expect(steer("source=s0&action=cancel&ids=\(first.eventID)", port) == 200 && first.isCancelled)
            #expect(steer("source=s0&action=limit&value=7", port) == 200 && queue.maxConcurrentOperationCount == 7)
            #expect(steer("source=s0&action=resume", port) == 200 && !queue.isSuspended)
            await queue.waitUntilAllOperationsAreFinished()
            #expect(steer("source=s0&action=suspend", port) == 200 && queue.isSuspended)
            #expect(steer("source=s0&action=retry&ids=1", port) == 400)
            #expect(steer("source=s9&action=suspend", port) == 404)
        }
    }

    @Test func `without a page, a queue has no watcher, and after the last page neither`() async throws {
        let queue = OperationQueue(name: "unwatched")
        let source = QueueSource(queue, id: "s0", permitsSteering: false)
        source.answer(.overview) { _ in }
        #expect(!source.recorder.isRecording)
        source.open()
        #expect(source.recorder.isRecording)
        source.close()
        #expect(!source.recorder.isRecording)
    }

    @Test func `a burst ends the recording, and a slower time begins it again`() async throws {
        let queue = OperationQueue(name: "burst", maxConcurrentOperationCount: 1)
        let source = QueueSource(queue, id: "s0", permitsSteering: false)
        source.open()
        while source.recorder.isRecording {
            for _ in 0..<5000 { queue.addOperation {} }
            await queue.waitUntilAllOperationsAreFinished()
        }
        #expect(source.recorder.read { $0.isIncomplete })
        // One look has no rate, which counts as slow.
        source.answer(.overview) { _ in }
        #expect(source.recorder.isRecording)
        source.close()
    }

    @Test func `the dashboard keeps no queue alive`() async throws {
        try await withDashboard { dashboard, port in
            var queue: OperationQueue? = OperationQueue(name: "released")
            dashboard.add(queue!)
            #expect(get("/api/state", port).body.contains("released"))
            queue = nil
            #expect(get("/api/state", port).body.contains(#""gone":true"#))
        }
    }

    @Test func `a port in use is an error, and the port is free after the end`() async throws {
        var port = 0
        try await withDashboard { _, found in
            port = found
            await #expect(throws: DashboardError.self) { try await Dashboard().run(port: found) }
        }
        _ = try Listener(port: port)
        #expect(throws: DashboardError.self) { try Listener(port: 70_000) }
    }
}

/// A gate that opens once.
final class Gate: Sendable {
    private let stream = AsyncStream.makeStream(of: Void.self)
    func open() { stream.continuation.finish() }
    func pass() async { for await _ in stream.stream {} }
}
