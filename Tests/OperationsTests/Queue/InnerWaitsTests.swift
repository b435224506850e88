import Dispatch
@testable import Operations
import TestSupport
import Testing
#if canImport(Glibc)
import Glibc
#endif

/// Rule A16: waits of running code are edges. Each program hangs, and is reported once through the handler of the user's queue.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct InnerWaitsTests {
    /// A queue with an early report.
    private func watched(_ name: String, width: Int? = nil, delay: Duration = .milliseconds(20)) -> Watched {
        Watched(name, width: width, delay: delay)
    }

    @Test(arguments: [2, nil] as [Int?])
    func `parents that hold all slots and wait for children are a stall, and each names its child`(width: Int?) {
        let watched = watched("parents", width: width)
        let queue = watched.queue
        let count = width ?? OperationQueue.defaultMaxThreadCount
        let (begun, children) = (Gate(count), Journal<Operation>())
        for number in 0..<count {
            let parent = BlockOperation {
                begun.meet()
                let child = BlockOperation {}
                child.name = "child \(number)"
                children.append(child)
                queue.addOperation(child)
                child.waitUntilFinished()
            }
            parent.name = "parent \(number)"
            queue.addOperation(parent)
        }
        let report = watched.report()
        let reasons = report.reasons["BlockOperation 'parent 0'"] ?? []
        #expect(reasons.prefix(2) == [.executing, .awaits("BlockOperation 'child 0'")])
        guard case .cycle(let path) = reasons.last else {
            Issue.record("\(reasons)")
            return
        }
        #expect(path.contains("a slot of queue 'parents'"))
        // A child that is started by hand cannot be: it is in the queue. More slots end the stall.
        queue.maxConcurrentOperationCount = 2 * count
        queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.count == 1)
    }

    @Test func `parents that await children in tasks are a stall`() async {
        let watched = watched("tasks", width: 2)
        let queue = watched.queue
        let begun = AsyncGate(2)
        for number in 0..<2 {
            queue.addTask(name: "parent \(number)") {
                begun.open()
                await begun.pass()
                try await queue.run(name: "child \(number)") {}
            }
        }
        let report = await watched.asyncReport()
        let own = report.blocked.first { $0.operation.contains("parent 1") }?.reasons ?? []
        #expect(
            own.first == .executing
                && own.contains { if case .awaits(let name) = $0 { name.contains("child 1") } else { false } })
        queue.maxConcurrentOperationCount = 4
        await queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.count == 1)
    }

    @Test
    func `a wait for a queue is a stall if one operation of the queue waits for it, although another one executes`() {
        let (a, b) = (OperationQueue(name: "a"), OperationQueue(name: "b"))
        for queue in [a, b] { queue.stallDelay = .zero }
        let (begun, release) = (Gate(2), Gate())
        let waiter = BlockOperation(name: "waiter") {
            begun.meet()
            b.waitUntilAllOperationsAreFinished()
        }
        let late = BlockOperation(name: "late") {}
        late.addDependency(waiter)
        b.addOperation {
            begun.meet()
            release.pass()
        }
        b.addOperation(late)
        a.addOperation(waiter)
        until { a.stallReport() != nil }
        #expect(a.explain(waiter).reasons.contains(.awaitsQueue("b")))
        late.removeDependency(waiter)
        release.open()
        for queue in [a, b] { queue.waitUntilAllOperationsAreFinished() }
    }

    @Test(arguments: [false, true])
    func `serial queues whose operations wait for each other are a stall of both`(waitsForQueue: Bool) {
        let (a, b) = (watched("a", width: 1), watched("b", width: 1))
        let begun = Gate(2)
        let (late, other) = (BlockOperation {}, BlockOperation {})
        (late.name, other.name) = ("late", "other")
        let release = Gate()
        a.queue.addOperation {
            begun.meet()
            if waitsForQueue { b.queue.waitUntilAllOperationsAreFinished() } else { other.waitUntilFinished() }
        }
        b.queue.addOperation {
            begun.meet()
            late.waitUntilFinished()
            release.pass()
        }
        a.queue.addOperation(late)
        b.queue.addOperation(other)
        let (first, second) = (a.report(), b.report())
        #expect(first.queue == "a" && second.queue == "b")
        #expect(second.blocked[0].reasons.contains(.awaits("BlockOperation 'late'")))
        let subject: WaitingReason = waitsForQueue ? .awaitsQueue("b") : .awaits("BlockOperation 'other'")
        #expect(first.blocked[0].reasons.contains(subject))
        #expect(first.causes.contains { $0.operation.hasPrefix("BlockOperation") })
        a.queue.maxConcurrentOperationCount = 2
        release.open()
        for queue in [a.queue, b.queue] { queue.waitUntilAllOperationsAreFinished() }
        #expect(a.reports.count == 1 && b.reports.count == 1)
    }

    /// In a process of its own, because the operations never end.
    @Test func `two running operations that wait for each other are a stall without any waiting operation`() async {
        await #expect(processExitsWith: .success) {
            let watched = Watched("pair", width: nil, delay: .milliseconds(20))
            let (first, second, begun) = (Slot(), Slot(), Gate(2))
            let one = BlockOperation {
                begun.meet()
                second.operation.waitUntilFinished()
            }
            let two = BlockOperation {
                begun.meet()
                first.operation.waitUntilFinished()
            }
            (one.name, two.name) = ("one", "two")
            first.set(one)
            second.set(two)
            await watched.queue.addOperations([one, two], waitUntilFinished: false)
            let report = await watched.asyncReport()
            #expect(report.reasons["BlockOperation 'one'"]?.contains(.awaits("BlockOperation 'two'")) == true)
        }
    }

    @Test func `an operation that waits for the holder of a key, a name or a unit that it holds itself is a stall`() {
        let pool = ResourcePool(["unit": 1])
        for kind in 0..<3 {
            let watched = watched("held")
            let queue = watched.queue
            queue.setLimitPerKey(1)
            let inner = BlockOperation {}
            inner.name = "inner"
            let outer = BlockOperation {
                if kind == 0 { queue.addOperation(inner, limitKey: "key") } else { queue.addOperation(inner) }
                inner.waitUntilFinished()
            }
            outer.name = "outer"
            if kind == 1 {
                for operation in [inner, outer] { operation.addRequirement(.exclusive("of a wait inside")) }
            } else if kind == 2 {
                for operation in [inner, outer] { operation.addRequirement(.units(1, of: "unit", in: pool)) }
            }
            if kind == 0 { queue.addOperation(outer, limitKey: "key") } else { queue.addOperation(outer) }
            let report = watched.report()
            #expect(report.reasons["BlockOperation 'outer'"]?.contains(.awaits("BlockOperation 'inner'")) == true)
            inner.cancel()
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `a stall inside nested groups and retries is one report of the outermost queue, with the path`() {
        let watched = watched("outer")
        let (inner, group) = (GroupOperation(), GroupOperation())
        (inner.name, group.name) = ("inner", "group")
        let stuck = Stuck()
        stuck.name = "stuck"
        inner.addChild(stuck)
        let retry = RetryOperation(.init(retries: 0)) { _ in inner }
        retry.name = "retry"
        group.addChild(retry)
        watched.queue.addOperation(group)
        let report = watched.report()
        #expect(report.queue == "outer")
        #expect(report.path == ["GroupOperation 'group'", "RetryOperation 'retry'", "GroupOperation 'inner'"])
        #expect(report.blocked.map(\.reasons) == [[.customIsReady]])
        #expect(watched.queue.explain(group).reasons == [.executing, .child("RetryOperation 'retry'")])
        let own = watched.queue.stallReport()
        #expect(own?.causes.map(\.operation) == ["RetryOperation 'retry'", "GroupOperation 'inner'", "Stuck 'stuck'"])
        StallObserver.letTimersPass()
        #expect(watched.reports.count == 1)
        group.cancel()
        watched.queue.waitUntilAllOperationsAreFinished()
    }

    @Test(arguments: [false, true])
    func `a wait for a queue that has only a barrier, or a part of a task, is a stall if it cannot start`(
        _ isBarrier: Bool
    ) {
        let watched = watched("outer")
        let other = OperationQueue()
        other.isSuspended = true
        // The task is in the queue when the call returns.
        if isBarrier { other.addBarrierBlock {} } else { Task(executorPreference: other) {} }
        let waiting = BlockOperation { other.waitUntilAllOperationsAreFinished() }
        watched.queue.addOperation(waiting)
        #expect(watched.report().blocked.first?.reasons.first == .executing)
        other.isSuspended = false
        watched.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a group whose code waits before it starts its children is a stall of its queue, and holds them back`() {
        let watched = watched("outer")
        let (child, group) = (BlockOperation {}, Preparing { [BlockOperation {}] })
        (child.name, group.name) = ("child", "group")
        group.addChild(child)
        let outer = GroupOperation { [group] }
        outer.name = "outer group"
        watched.queue.addOperation(outer)
        let report = watched.report()
        #expect(report.path == ["GroupOperation 'outer group'"])
        #expect(report.blocked.map(\.reasons) == [[.executing, .awaits("Stuck 'first'")]])
        #expect(watched.queue.explain(child).reasons == [.group("Preparing 'group'")])
        StallObserver.letTimersPass()
        #expect(watched.reports.count == 1)
        let end = BlockOperation {}
        end.addDependency(outer)
        OperationQueue().addOperation(end)
        outer.cancel()
        group.first.cancel()
        OperationQueue().addOperation(group.first)
        end.waitUntilFinished()
    }

    @Test func `a group gets a new delay of its queue`() {
        let watched = watched("outer", delay: .seconds(1000))
        let group = GroupOperation { [Stuck()] }
        watched.queue.addOperation(group)
        while !group.isExecuting { Processor.yield() }
        watched.queue.stallDelay = .milliseconds(1)
        _ = watched.report()
        group.cancel()
        watched.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `operations that wait and can continue are no stall`() {
        let watched = watched("going on", width: 2, delay: .milliseconds(1))
        let (begun, mayEnd) = (Gate(), Gate())
        let long = BlockOperation {
            begun.open()
            mayEnd.pass()
        }
        long.name = "long"
        let waiting = BlockOperation { long.waitUntilFinished() }
        // One of two blocks waits, and the other one moves.
        let half = BlockOperation { long.waitUntilFinished() }
        half.addExecutionBlock { mayEnd.pass() }
        OperationQueue().addOperation(long)
        begun.pass()
        watched.queue.addOperations([waiting, half], waitUntilFinished: false)
        watched.queue.addOperation {}
        while watched.queue.explain(waiting).reasons != [.executing, .awaits("BlockOperation 'long'")] {
            Processor.yield()
        }
        StallObserver.letTimersPass()
        #expect(watched.reports.isEmpty && watched.queue.stallReport() == nil)
        mayEnd.open()
        mayEnd.open()
        watched.queue.waitUntilAllOperationsAreFinished()
        #expect(watched.queue.explain(waiting).reasons == [.finished])
    }

    /// The wait ends when its time is over.
    @Test(arguments: [false, true]) func `a blocking wait with a limit is no stall`(waitsForQueue: Bool) {
        let (watched, held) = (watched("work", width: 1, delay: .seconds(1000)), OperationQueue.suspended())
        let (missing, begun) = (BlockOperation {}, Gate())
        held.addOperation(missing)
        watched.queue.addOperation {
            begun.open()
            if waitsForQueue {
                _ = held.waitUntilAllOperationsAreFinished(timeout: .seconds(1000))
            } else {
                _ = missing.waitUntilFinished(timeout: .seconds(1000))
            }
        }
        begun.pass()
        watched.queue.addOperation {}
        watched.queue.stallDelay = .milliseconds(1)
        StallObserver.letTimersPass()
        #expect(watched.reports.isEmpty && watched.queue.stallReport() == nil)
        held.isSuspended = false
        watched.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `a sleep, and a wait beside a sleep of another child task, are no stall`() async {
        let watched = watched("sleeping", width: 1, delay: .seconds(1000))
        let queue = watched.queue
        let begun = AsyncGate()
        let operation = queue.addTask(name: "sleeps") {
            Task(executorPreference: queue) {}
            try await withThrowingTaskGroup { group in
                group.addTask { try await TaskOperation {}.value }
                group.addTask {
                    begun.open()
                    try await OperationClock().sleep(for: .seconds(1000))
                }
                try await group.next()
            }
        }
        await begun.pass()
        while !(operation.attachments?.withLock { $0.extras?.innerWaits.sleeps == 1 } ?? false) { await Task.yield() }
        // Not earlier: before the sleep, the wait of the other child task is all that the library knows.
        queue.stallDelay = .milliseconds(1)
        await withUnsafeContinuation { continuation in
            _ = TestThread {
                StallObserver.letTimersPass()
                continuation.resume()
            }
        }
        #expect(watched.reports.isEmpty && queue.stallReport() == nil)
        operation.cancel()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(operation.operationsAwaitedInside.isEmpty)
    }

    @Test func `the second stall of the same running operation is reported too`() {
        let watched = watched("twice")
        let other = OperationQueue()
        other.isSuspended = true
        let (first, second) = (BlockOperation {}, BlockOperation {})
        (first.name, second.name) = ("first", "second")
        other.addOperation(first)
        watched.queue.addOperation {
            first.waitUntilFinished()
            second.waitUntilFinished()
        }
        #expect(watched.report().blocked[0].reasons.contains(.awaits("BlockOperation 'first'")))
        other.isSuspended = false
        first.waitUntilFinished()
        while watched.reports.count < 2 { Processor.yield() }
        #expect(watched.reports[1].blocked[0].reasons.contains(.awaits("BlockOperation 'second'")))
        second.start()
        watched.queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.count == 2)
    }

    @Test func `the main thread may wait for an asynchronous operation of the main queue that another thread ends`()
        async
    {
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                let operation = EndedElsewhere()
                OperationQueue.main.addOperation(operation)
            }
            while !EndedElsewhere.hasStarted.withLock({ $0 }) { await Task.yield() }
            await MainActor.run { blocking { OperationQueue.main.waitUntilAllOperationsAreFinished() } }
        }
    }

    @Test(arguments: [false, true])
    func `an operation that awaits a task of its own serial queue is a stall`(movesItself: Bool) async {
        let watched = watched("own", width: 1)
        let queue = watched.queue
        let operation = queue.addTask(name: "moves") {
            if movesItself {
                await withTaskExecutorPreference(queue) { await Task.yield() }
            } else {
                await Task(executorPreference: queue) {}.value
            }
        }
        let report = await watched.asyncReport()
        #expect(report.blocked.first?.reasons.first == .executing)
        #expect(report.description.contains("a part of a task"))
        queue.maxConcurrentOperationCount = 2
        await operation.waitUntilFinished()
        await queue.waitUntilAllOperationsAreFinished()
        #expect(watched.reports.count == 1)
    }

    @Test @MainActor func `a call that may not wait adds nothing`() {
        let operation = BlockOperation {}
        #expect(throws: OperationError.waitsForMainQueue(operation: operation.label)) {
            try blocking { try OperationQueue.main.tryAddOperations([operation], waitUntilFinished: true) }
        }
        operation.cancel()
        #expect(operation.queueOfMember == nil && !operation.isFinished)
    }

    @Test(arguments: 0..<4) func `waiting for the main queue on the main thread stops the process`(form: Int) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [form] in
            await MainActor.run {
                let operation = BlockOperation {}
                switch form {
                case 0:
                    OperationQueue.main.addOperation(operation)
                    blocking { operation.waitUntilFinished() }
                case 1:
                    OperationQueue.main.addOperation(operation)
                    blocking { OperationQueue.main.waitUntilAllOperationsAreFinished() }
                case 2: blocking { OperationQueue.main.addOperations([operation], waitUntilFinished: true) }
                default:
                    let task = OperationQueue.main.addTask { try await OperationClock().sleep(for: .seconds(100)) }
                    blocking { task.waitUntilFinished() }
                }
            }
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("of the main queue, which only the main thread runs"))
    }

    @Test func `a main thread that waits for an operation behind the main queue is a stall of the queue`() async {
        await #expect(processExitsWith: .success) {
            await MainActor.run {
                let queue = OperationQueue()
                queue.name = "user's"
                queue.stallDelay = .milliseconds(20)
                queue.stallHandler = { report in
                    let reasons = report.blocked[0].reasons
                    let isNamed = reasons.contains { if case .cycle = $0 { true } else { false } }
                    let text = report.description
                    _ = isNamed && text.contains("waits for the main thread, which waits for") ? exitNow(0) : exitNow(1)
                }
                let onMain = BlockOperation {}
                OperationQueue.main.addOperation(onMain)
                let operation = BlockOperation {}
                operation.addDependency(onMain)
                queue.addOperation(operation)
                blocking { operation.waitUntilFinished() }
            }
        }
    }

    @Test func `waits leave nothing, and the number of waits of an operation is counted`() async {
        let queue = OperationQueue()
        let (begun, mayEnd) = (AsyncGate(), AsyncGate())
        let awaited = TaskOperation { await mayEnd.pass() }
        awaited.name = "awaited"
        OperationQueue().addOperation(awaited)
        let operation = queue.addTask(name: "waits") {
            await withTaskGroup { group in
                for _ in 0..<3 { group.addTask { await awaited.waitUntilFinished() } }
                begun.open()
            }
            return OperationQueue.current?.explain(awaited).reasons
        }
        await begun.pass()
        let expected: [WaitingReason] = [.executing, .awaits("TaskOperation 'awaited'")]
        while queue.explain(operation).reasons != expected { await Task.yield() }
        mayEnd.open()
        await operation.waitUntilFinished()
        #expect(operation.operationsAwaitedInside.isEmpty)
    }
}

/// An operation that a thread ends some time after its start.
private final class EndedElsewhere: Operations.Operation, @unchecked Sendable {
    static let hasStarted = Guarded(false)
    private let state = Guarded((isExecuting: false, isFinished: false))

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { state.withLock { $0.isExecuting } }
    override var isFinished: Bool { state.withLock { $0.isFinished } }

    override func start() {
        change(\.isExecuting) { $0.isExecuting = true }
        Self.hasStarted.withLock { $0 = true }
        _ = TestThread {
            while !MainThread.isWaiting { Processor.yield() }
            self.change(\.isExecuting) { $0.isExecuting = false }
            self.change(\.isFinished) { $0.isFinished = true }
        }
    }

    private func change(
        _ path: KeyPath<EndedElsewhere, Bool>, _ body: (inout (isExecuting: Bool, isFinished: Bool)) -> Void
    ) {
        willChangeValue(for: path)
        state.withLock { body(&$0) }
        didChangeValue(for: path)
    }
}

private func blocking(_ body: () throws -> Void) rethrows { try body() }

private func exitNow(_ status: Int32) -> Never { exit(status) }

/// A queue that reports stalls early.
private final class Watched: Sendable {
    let queue = OperationQueue()
    private let journal = Journal<StallReport>()
    private let (reported, asyncReported) = (Gate(), AsyncGate())

    init(_ name: String, width: Int?, delay: Duration) {
        queue.name = name
        if let width { queue.maxConcurrentOperationCount = width }
        queue.stallDelay = delay
        queue.stallHandler = { [journal, reported, asyncReported] report in
            journal.append(report)
            reported.open()
            asyncReported.open()
        }
    }

    var reports: [StallReport] { journal.entries }

    func report() -> StallReport {
        reported.pass()
        return journal.entries[0]
    }

    func asyncReport() async -> StallReport {
        await asyncReported.pass()
        return journal.entries[0]
    }
}

/// An operation that a closure refers to before the operation exists.
private final class Slot: Sendable {
    private let held = Guarded<Operations.Operation?>(nil)
    var operation: Operations.Operation { held.withLock { $0! } }
    func set(_ operation: Operations.Operation) { held.withLock { $0 = operation } }
}

private final class Stuck: Operations.Operation, @unchecked Sendable {
    override var isReady: Bool { false || isCancelled }
}

/// A group that waits for an operation before it starts its children.
private final class Preparing: GroupOperation, @unchecked Sendable {
    let first: Stuck = {
        let first = Stuck()
        first.name = "first"
        return first
    }()

    override func run() async throws {
        await first.waitUntilFinished()
        try await super.run()
    }
}
