import Dispatch
import Operations
import TestSupport
import Testing

/// Rule N3: the occasions and the number of stall reports.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct StallWatchTests {
    /// Rule N3.
    @Test func `a stall is reported once, and the next one again`() {
        let observer = StallObserver()
        observer.queue.isSuspended = true
        _ = observer.report { observer.queue.addOperation {} }
        StallObserver.letTimersPass()
        #expect(observer.reports.count == 1)
        observer.clear()
        observer.queue.isSuspended = true
        _ = observer.report { observer.queue.addOperation {} }
        StallObserver.letTimersPass()
        #expect(observer.reports.count == 2)
        observer.clear()
    }

    /// Rule N3: the thread that makes the last operation leave does not look for another one.
    @Test func `a stall is reported when the last running operation leaves on a dispatch queue`() {
        let observer = StallObserver()
        observer.queue.underlyingQueue = DispatchQueue(label: "underlying")
        let (never, blocked) = (BlockOperation {}, BlockOperation {})
        blocked.addDependency(never)
        _ = observer.report {
            observer.queue.addOperations([BlockOperation {}, blocked], waitUntilFinished: false)
        }
        observer.clear()
        never.start()
        blocked.waitUntilFinished()
    }

    /// Rule N3: the thread that puts the operation back does not look again.
    @Test func `a stall is reported when an operation on a dispatch queue is put back`() {
        let observer = StallObserver()
        observer.queue.underlyingQueue = DispatchQueue(label: "underlying")
        let pool = ResourcePool(["unit": 1])
        let operation = BlockOperation {}
        operation.addRequirement(.units(1, of: "unit", in: pool))
        pool.setCapacity(0, of: "unit")
        let report = observer.report { observer.queue.addOperation(operation) }
        #expect(report.blocked.count == 1)
        observer.clear()
    }

    /// Rule N3.
    @Test func `a stall is reported when the last running operation leaves on a thread of its own level`() {
        let observer = StallObserver()
        let (never, blocked, mayEnd) = (BlockOperation {}, BlockOperation {}, AsyncGate())
        blocked.addDependency(never)
        let last = TaskOperation { await mayEnd.pass() }
        last.qualityOfService = .utility
        _ = observer.report {
            observer.queue.addOperations([last, blocked], waitUntilFinished: false)
            mayEnd.open()
        }
        observer.clear()
        never.start()
        blocked.waitUntilFinished()
    }

    /// Rule N3: a timer that was started with another delay is cancelled.
    @Test func `changing the delay does not cause a second report`() {
        let observer = StallObserver(delay: .seconds(1000))
        observer.queue.isSuspended = true
        observer.queue.addOperation {}
        _ = observer.report { for _ in 0..<20 { observer.queue.stallDelay = .milliseconds(3) } }
        StallObserver.letTimersPass()
        StallObserver.letTimersPass()
        #expect(observer.reports.count == 1)
        observer.clear()
    }

    /// Rule N3.
    @Test func `a delay of zero means no report, also for a queue at rest`() {
        let observer = StallObserver(delay: .milliseconds(3))
        observer.queue.isSuspended = true
        observer.queue.addOperation {}
        observer.queue.stallDelay = .zero
        // The thread may have been so late that the first timer fired before, and runs just now.
        StallObserver.letTimersPass()
        let before = observer.reports.count
        StallObserver.letTimersPass()
        #expect(observer.reports.count == before)
        observer.clear()
    }

    /// Rule N3: the default delay.
    @Test func `the delay is ten seconds and there is no handler by default`() {
        let queue = OperationQueue()
        #expect(queue.stallDelay == .seconds(10))
        #expect(queue.stallHandler == nil)
        queue.stallDelay = .seconds(3)
        #expect(queue.stallDelay == .seconds(3))
    }

    /// Rule N3: the stall after a stall that ended without any start.
    @Test func `a stall is reported also when the previous one ended without a start`() {
        let observer = StallObserver()
        let early = AsynchronousOperation()
        early.addDependency(Operation())
        _ = observer.report { observer.queue.addOperation(early) }
        early.finish()
        observer.queue.waitUntilAllOperationsAreFinished()
        let second = Operation()
        second.addDependency(Operation())
        _ = observer.report { observer.queue.addOperation(second) }
        #expect(observer.reports.count == 2)
        observer.clear()
    }

    /// Rule N3.
    @Test func `nothing is reported while a dependency in another queue runs`() {
        let observer = StallObserver()
        let (other, started, gate) = (OperationQueue(), Gate(), Gate())
        let dependency = BlockOperation {
            started.open()
            gate.pass()
        }
        other.addOperation(dependency)
        started.pass()
        let (waiting, last) = (Operation(), Operation())
        waiting.addDependency(dependency)
        last.addDependency(waiting)
        observer.queue.addOperations([last, waiting], waitUntilFinished: false)
        #expect(observer.queue.stallReport() == nil)
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        gate.open()
        observer.queue.waitUntilAllOperationsAreFinished()
        #expect(observer.reports.isEmpty)
    }

    /// Rule N3: an operation that was started by hand is in no queue, and runs.
    @Test func `nothing is reported while a dependency in no queue runs`() {
        let observer = StallObserver()
        let dependency = AsynchronousOperation()
        dependency.start()
        let waiting = Operation()
        waiting.addDependency(dependency)
        observer.queue.addOperation(waiting)
        #expect(observer.queue.stallReport() == nil)
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        dependency.finish()
        waiting.waitUntilFinished()
    }

    /// Rule N3.
    @Test func `an empty, running or working queue does not stall`() {
        let observer = StallObserver()
        #expect(observer.queue.stallReport() == nil)
        observer.queue.isSuspended = true
        #expect(observer.queue.stallReport() == nil)
        observer.queue.isSuspended = false
        let (started, gate) = (Gate(), Gate())
        observer.queue.maxConcurrentOperationCount = 1
        observer.queue.addOperation {
            started.open()
            gate.pass()
        }
        observer.queue.addOperation {}
        started.pass()
        #expect(observer.queue.stallReport() == nil)
        // The queue is suspended, but an operation runs.
        observer.queue.isSuspended = true
        #expect(observer.queue.stallReport() == nil)
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        observer.queue.isSuspended = false
        gate.open()
        observer.queue.waitUntilAllOperationsAreFinished()
    }

    /// Rules N3, K6: the handler may call any function.
    @Test func `the handler may end the stall`() {
        let queue = OperationQueue()
        let forgotten = Operation()
        queue.stallHandler = { _ in queue.addOperation(forgotten) }
        queue.stallDelay = .milliseconds(1)
        let waiting = Operation()
        waiting.addDependency(forgotten)
        queue.addOperation(waiting)
        waiting.waitUntilFinished()
        queue.stallHandler = nil
    }

    /// Rule N3: the queue has moved since the timer was started, and rests again when it fires.
    @Test func `a stall that begins before the timer of an earlier one is due is reported`() {
        let queue = OperationQueue()
        let reported = Gate()
        queue.stallHandler = { report in
            if report.blocked.contains(where: { $0.operation == "Operation 'second'" }) { reported.open() }
        }
        queue.stallDelay = .milliseconds(100)
        queue.isSuspended = true
        let first = Operation(named: "first")
        queue.addOperation(first)
        queue.isSuspended = false
        first.waitUntilFinished()
        let (second, forgotten) = (Operation(named: "second"), Operation())
        second.addDependency(forgotten)
        queue.addOperation(second)
        reported.pass()
        forgotten.start()
        second.waitUntilFinished()
    }

    /// Rule N3: the check is repeated while an operation elsewhere moves.
    @Test func `a stall that another queue causes much later is reported`() {
        let (observer, other) = (StallObserver(), OperationQueue())
        other.stallDelay = .zero
        let (gate, forgotten) = (Gate(), Operation(named: "forgotten"))
        let dependency = Operation(named: "dependency")
        let running = BlockOperation {
            gate.pass()
            dependency.addDependency(forgotten)
        }
        dependency.addDependency(running)
        other.addOperations([running, dependency], waitUntilFinished: false)
        let waiting = Operation(named: "waiting")
        waiting.addDependency(dependency)
        observer.queue.addOperation(waiting)
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        let report = observer.report { gate.open() }
        #expect(report.reasons == ["Operation 'waiting'": [.dependency("Operation 'dependency'")]])
        forgotten.start()
        waiting.waitUntilFinished()
    }

    /// Rule N3: the nanoseconds of this delay, cut to 64 bits, are a microsecond.
    @Test func `a very long delay is not shortened`() {
        let observer = StallObserver(delay: .seconds(4_394_217_352_542_426))
        observer.queue.isSuspended = true
        observer.queue.addOperation {}
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        observer.clear()
    }

    /// Rule N3: without a handler the report goes to the log.
    @Test func `without a handler the log names operation and reason`() async {
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            stallWithoutHandler()
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(message.contains("queue 'silent' is stalled"))
        #expect(message.contains("Operation 'waiting': waits for Operation 'forgotten', which is in no queue"))
    }
}

private func stallWithoutHandler() {
    let queue = OperationQueue()
    queue.name = "silent"
    queue.stallDelay = .milliseconds(1)
    let forgotten = Operation(named: "forgotten")
    let waiting = Operation(named: "waiting")
    waiting.addDependency(forgotten)
    queue.addOperation(waiting)
    StallObserver.letTimersPass()
    // The timer may be late on a loaded machine. The log is standard error, so there is no event to wait for.
    for _ in 0..<20 { StallObserver.letTimersPass() }
}
