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
        if report.blocked.count == 2 {
            #expect(
                report.reasons == [
                    a: [.dependency(b), .cycle([a, b, barrier, a])], b: [.barrier, .cycle([b, barrier, a, b])],
                ])
        }
        #expect(observer.queue.stallReport()?.reasons[b] == [.barrier, .cycle([b, barrier, a, b])])
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
