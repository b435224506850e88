import Operations
import TestSupport
import Testing

/// Rule N3: the report of a stalled queue.
@Suite(.timeLimit(.minutes(5))) struct StallReportTests {
    /// Rules N3, D7.
    @Test(arguments: [2, 3, 10]) func `a cycle is reported as its path`(length: Int) {
        let observer = StallObserver()
        let operations = (0..<length).map { Operation(named: "\($0)") }
        for i in 0..<length { operations[i].addDependency(operations[(i + 1) % length]) }
        let report = observer.report { observer.queue.addOperations(operations, waitUntilFinished: false) }
        #expect(report.queue == "observed")
        #expect(report.blocked.map(\.operation) == operations.map(\.queueTestLabel))
        for i in 0..<length {
            let path = (0...length).map { operations[(i + $0) % length].queueTestLabel }
            #expect(report.blocked[i].reasons == [.dependency(path[1]), .cycle(path)])
        }
        #expect(report.description.contains("Operation '0' → Operation '1'"))
        #expect(report.description.contains("observed"))
        observer.clear()
    }

    /// Rule N3: one path for all, so that a cycle of 100,000 operations has a report.
    @Test(arguments: [32, 33]) func `a path begins with its own operation in a cycle of up to 32`(length: Int) {
        let queue = OperationQueue(name: "work")
        queue.stallDelay = .zero
        let operations = (0..<length).map { Operation(named: "\($0)") }
        for i in 0..<length { operations[i].addDependency(operations[(i + 1) % length]) }
        queue.addOperations(operations, waitUntilFinished: false)
        let starts = operations.map { operation -> String? in
            guard case .cycle(let path) = queue.explain(operation).reasons.last else { return nil }
            #expect(path.count == length + 1)
            return path.first
        }
        let reported = (queue.stallReport()?.blocked ?? []).map { explanation -> String? in
            guard case .cycle(let path) = explanation.reasons.last else { return nil }
            return path.first
        }
        #expect(Set(reported).count == (length == 32 ? 32 : 1))
        #expect(length == 33 || starts == operations.map(\.queueTestLabel))
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3.
    @Test func `the holders of a barrier are listed in the order added`() {
        let queue = OperationQueue(name: "work")
        queue.isSuspended = true
        let (operations, behind) = (["1", "2", "3"].map { Operation(named: $0) }, Operation(named: "behind"))
        // The ready and the waiting operations of a queue are in different lists.
        operations[1].addDependency(Operation(named: "forgotten"))
        queue.addOperations(operations, waitUntilFinished: false)
        queue.addBarrierBlock {}
        queue.addOperation(behind)
        let holders = operations.map { WaitingReason.Holder(operation: $0.queueTestLabel, executionTime: nil) }
        #expect(queue.explain(behind).reasons == [.queueSuspended(queue: "work"), .barrier(heldBy: holders)])
        queue.cancelAllOperations()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3.
    @Test func `of two operations the one that waits for no other is the root`() {
        let queue = OperationQueue(name: "work")
        queue.stallDelay = .zero
        let (first, second) = (Held(), Operation(named: "second"))
        second.addDependency(first)
        queue.addOperations([first, second], waitUntilFinished: false)
        #expect(queue.stallReport()?.root?.operation == first.queueTestLabel)
        queue.cancelAllOperations()
        first.letGo(announcing: true)
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3.
    @Test func `a report describes at most 20 operations of other queues`() {
        let (queue, other) = (OperationQueue(name: "work"), OperationQueue(name: "other"))
        for queue in [queue, other] { queue.stallDelay = .zero }
        let waiting = Operation(named: "waiting")
        let causes = (0...StallReport.describedCauses).map { Operation(named: "\($0)") }
        for cause in causes { waiting.addDependency(cause) }
        other.isSuspended = true
        other.addOperations(causes, waitUntilFinished: false)
        queue.addOperation(waiting)
        #expect(queue.stallReport()?.causes.map(\.operation) == causes.dropLast().map(\.queueTestLabel))
        other.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3.
    @Test func `the text of a report has each cycle once`() {
        let queue = OperationQueue(name: "work")
        queue.stallDelay = .zero
        let (a, b, c, behind) =
            (Operation(named: "a"), Operation(named: "b"), Operation(named: "c"), Operation(named: "behind"))
        a.addDependency(b)
        b.addDependency(c)
        c.addDependency(a)
        behind.addDependency(a)
        queue.addOperations([a, b, c, behind], waitUntilFinished: false)
        let expected = """
            queue 'work' is stalled: 4 operations wait and none can continue
              Operation 'a': waits for Operation 'b'
              Operation 'b': waits for Operation 'c'
              Operation 'c': waits for Operation 'a'
              Operation 'behind': waits for Operation 'a'
              cycle: Operation 'a' → Operation 'b' → Operation 'c' → Operation 'a'
            """
        #expect(queue.stallReport()?.description == expected)
        #expect(queue.stallReport()?.root == nil)
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3: the last line says where to look.
    @Test func `the root is the operation from which the others wait in the end, also in another queue`() {
        let (main, loading, parsing) =
            (OperationQueue(name: "screen"), OperationQueue(name: "loading"), OperationQueue(name: "parsing"))
        for queue in [main, loading, parsing] { queue.stallDelay = .zero }
        let (download, parse, show) = (Silent(), Operation(named: "parse"), Operation(named: "show"))
        download.name = "download"
        parse.addDependency(download)
        show.addDependency(parse)
        loading.addOperation(download)
        download.started.pass()
        parsing.addOperation(parse)
        main.addOperation(show)
        until { main.stallReport() != nil }
        let report = main.stallReport()
        #expect(report?.root?.operation == "Silent 'download'" && report?.root?.queue == "loading")
        #expect(report?.root?.reasons == [.finishNotAnnounced])
        let lines = report?.description.split(separator: "\n").map { $0.trimmingPrefix { $0 == " " } } ?? []
        #expect(lines.count == 4)
        #expect(lines.dropFirst(2).first == "cause: Operation 'parse' in queue 'parsing': waits for Silent 'download'")
        #expect(lines.last?.hasPrefix("root: Silent 'download' in queue 'loading': isFinished is true") == true)
        download.didChangeValue(forKey: "isFinished")
        main.waitUntilAllOperationsAreFinished()
    }

    /// Rule N3.
    @Test func `among operations of one queue the root is the only one that waits for no other`() {
        let queue = OperationQueue(name: "work")
        queue.stallDelay = .zero
        let (first, second, third) = (Operation(named: "1"), Operation(named: "2"), Operation(named: "3"))
        first.addDependency(Operation(named: "forgotten"))
        second.addDependency(first)
        third.addDependency(second)
        queue.addOperations([third, second, first], waitUntilFinished: false)
        #expect(queue.stallReport()?.root?.operation == "Operation 'forgotten'")
        queue.isSuspended = true
        // Each of them waits for the queue now.
        #expect(queue.stallReport()?.description.contains("isSuspended") == true)
        queue.isSuspended = false
        queue.cancelAllOperations()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rules N3, L7: the delay is the one that was set. A second look, which excludes an end that is just being announced, is short.
    @Test func `an end that is not announced is reported before a stall whose delay is half as long again`() {
        let (silent, suspended) =
            (StallObserver(delay: .milliseconds(400)), StallObserver(delay: .milliseconds(600)))
        let operation = Silent()
        silent.queue.addOperation(operation)
        operation.started.pass()
        suspended.queue.isSuspended = true
        let report = suspended.report { suspended.queue.addOperation {} }
        #expect(report.blocked.count == 1 && silent.reports.count == 1)
        operation.didChangeValue(forKey: "isFinished")
        suspended.clear()
        silent.queue.waitUntilAllOperationsAreFinished()
    }

    /// Rules N3, D7: an operation that leads into a cycle names the cycle too.
    @Test func `an operation that waits for a cycle gets the path of the cycle`() {
        let observer = StallObserver()
        let (a, b, waiting) = (Operation(named: "a"), Operation(named: "b"), Operation(named: "waiting"))
        a.addDependency(b)
        b.addDependency(a)
        waiting.addDependency(a)
        let report = observer.report { observer.queue.addOperations([waiting, a, b], waitUntilFinished: false) }
        #expect(report.reasons["Operation 'waiting'"]?.first == .dependency("Operation 'a'"))
        #expect(
            report.reasons["Operation 'waiting'"]?.last == .cycle(["Operation 'a'", "Operation 'b'", "Operation 'a'"]))
        observer.clear()
    }

    /// Rules N3, D2, D7.
    @Test func `a cycle across queues is reported by both`() {
        let (first, second) = (StallObserver(), StallObserver())
        let (a, b) = (Operation(named: "a"), Operation(named: "b"))
        a.addDependency(b)
        b.addDependency(a)
        let path = ["Operation 'a'", "Operation 'b'", "Operation 'a'"]
        // The first queue may check while the second operation is not queued yet.
        first.queue.isSuspended = true
        first.queue.addOperation(a)
        let fromSecond = second.report { second.queue.addOperation(b) }
        #expect(fromSecond.blocked[0].reasons.last == .cycle(["Operation 'b'", "Operation 'a'", "Operation 'b'"]))
        first.queue.isSuspended = false
        #expect(first.queue.stallReport()?.blocked[0].reasons.last == .cycle(path))
        first.clear()
        second.clear()
    }

    /// Rule N3.
    @Test func `a dependency in no queue is named`() {
        let observer = StallObserver()
        let (forgotten, waiting) = (Operation(named: "forgotten"), Operation(named: "waiting"))
        waiting.addDependency(forgotten)
        let report = observer.report { observer.queue.addOperation(waiting) }
        #expect(report.reasons == ["Operation 'waiting'": [.dependencyInNoQueue("Operation 'forgotten'")]])
        #expect(report.description.contains("Operation 'forgotten', which is in no queue"))
        forgotten.start()
        waiting.waitUntilFinished()
    }

    /// Rule N3.
    @Test func `a suspended queue that holds something is a stall`() {
        let observer = StallObserver()
        observer.queue.isSuspended = true
        let report = observer.report { observer.queue.addOperation(Operation(named: "a")) }
        #expect(report.reasons == ["Operation 'a'": [.queueSuspended(queue: "observed")]])
        observer.clear()
    }

    /// Rule N3.
    @Test func `a queue of width 0 that holds something is a stall`() {
        let observer = StallObserver()
        observer.queue.maxConcurrentOperationCount = 0
        let report = observer.report { observer.queue.addOperation(Operation(named: "a")) }
        #expect(report.reasons == ["Operation 'a'": [.limitZero(queue: "observed")]])
        observer.clear()
    }

    /// Rule N3.
    @Test func `an overridden isReady that is false is a stall`() {
        let observer = StallObserver()
        let operation = Held()
        operation.name = "held"
        let report = observer.report { observer.queue.addOperation(operation) }
        #expect(report.reasons == ["Held 'held'": [.customIsReady]])
        operation.letGo(announcing: true)
        operation.waitUntilFinished()
    }

    /// Rule N3: a common bug in ported code. Without a report the hang would have no visible cause.
    @Test func `an isReady that became true without being announced is a stall`() {
        let observer = StallObserver(delay: .zero)
        let operation = Held()
        operation.name = "held"
        observer.queue.addOperation(operation)
        operation.letGo(announcing: false)
        _ = observer.report { observer.queue.stallDelay = .milliseconds(2) }
        #expect(observer.queue.stallReport() != nil)
        operation.didChangeValue(forKey: "isReady")
        operation.waitUntilFinished()
    }

    /// Rules N3, X3.
    @Test func `an operation that depends on one behind a barrier is a stall`() {
        let observer = StallObserver()
        let (before, behind) = (Operation(named: "before"), Operation(named: "behind"))
        before.addDependency(behind)
        let report = observer.report {
            observer.queue.addOperation(before)
            observer.queue.addBarrierBlock {}
            observer.queue.addOperation(behind)
        }
        let (a, b, barrier) = ("Operation 'before'", "Operation 'behind'", "a barrier of queue 'observed'")
        let held = [WaitingReason.Holder(operation: a, executionTime: nil)]
        if report.blocked.count == 2 {
            #expect(
                report.reasons == [
                    a: [.dependency(b), .cycle([a, b, barrier, a])],
                    b: [.barrier(heldBy: held), .cycle([b, barrier, a, b])],
                ])
        }
        #expect(observer.queue.stallReport()?.reasons[b] == [.barrier(heldBy: held), .cycle([b, barrier, a, b])])
        observer.clear()
    }
}

private final class Held: Operations.Operation, @unchecked Sendable {
    private let isHeld = Guarded(true)

    override var isReady: Bool { super.isReady && !isHeld.withLock { $0 } }

    func letGo(announcing: Bool) {
        if announcing { willChangeValue(forKey: "isReady") }
        isHeld.withLock { $0 = false }
        if announcing { didChangeValue(forKey: "isReady") }
    }
}

/// Ends without an announcement.
private final class Silent: Operations.Operation, @unchecked Sendable {
    private let isDone = Guarded(false)
    let started = Gate()

    override var isFinished: Bool { isDone.withLock { $0 } }
    override var isExecuting: Bool { false }
    override func start() {
        isDone.withLock { $0 = true }
        started.open()
    }
}
