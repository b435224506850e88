@testable import Operations
import TestSupport
import Testing

/// Rules N3, A9: stalls of groups, of ends that are not announced, and of holders of slots, turns and names.
@Suite(.timeLimit(.minutes(5))) struct StallGroupTests {
    /// A group, and a queue that reports early.
    private func watchedGroup() -> (
        group: GroupOperation, queue: OperationQueue, reports: Journal<StallReport>, reported: Gate
    ) {
        let (group, queue, reports, reported) = (GroupOperation(), OperationQueue(), Journal<StallReport>(), Gate())
        group.name = "g"
        queue.name = "outer"
        queue.stallHandler = {
            reports.append($0)
            reported.open()
        }
        queue.stallDelay = .milliseconds(1)
        return (group, queue, reports, reported)
    }

    @Test func `a group that has not started, or is paused, is not a stall, and its children name their reasons`() {
        let (group, queue, reports, _) = watchedGroup()
        let (child, began, mayEnd) = (Operation(named: "child"), Gate(), Gate())
        let first = BlockOperation {
            began.open()
            mayEnd.pass()
        }
        group.addChild(child)
        #expect(queue.explain(child).reasons == [.group("GroupOperation 'g'")])
        StallObserver.letTimersPass()
        queue.isSuspended = true
        queue.addOperation(group)
        #expect(queue.explain(child).reasons == [.group("GroupOperation 'g'")])
        StallObserver.letTimersPass()
        child.addDependency(first)
        group.addChild(first)
        queue.isSuspended = false
        began.pass()
        group.pause()
        mayEnd.open()
        first.waitUntilFinished()
        #expect(queue.explain(child).reasons == [.paused])
        StallObserver.letTimersPass()
        // The only report is that of the suspended queue around the group.
        #expect(reports.entries.map { $0.blocked.map(\.reasons) } == [[[.queueSuspended(queue: "outer")]]])
        group.resume()
        group.waitUntilFinished()
    }

    @Test func `a group with a child that cannot continue names it, although another child executes`() {
        let (group, queue, reports, _) = watchedGroup()
        queue.stallDelay = .zero
        let (child, began, mayEnd) = (Operation(named: "child"), Gate(), Gate())
        child.addDependency(Operation(named: "forgotten"))
        group.addChild(child)
        let other = BlockOperation {
            began.open()
            mayEnd.pass()
        }
        group.addChild(other)
        queue.addOperation(group)
        began.pass()
        #expect(queue.explain(group).reasons == [.executing, .child("Operation 'child'")])
        mayEnd.open()
        other.waitUntilFinished()
        child.cancel()
        group.waitUntilFinished()
        #expect(reports.entries.isEmpty)
    }

    @Test func `children that wait for each other are reported as the children of their group`() {
        let (group, queue, reports, reported) = watchedGroup()
        let (a, b) = (Operation(named: "a"), Operation(named: "b"))
        a.addDependency(b)
        b.addDependency(a)
        group.addChild(a)
        group.addChild(b)
        queue.addOperation(group)
        reported.pass()
        #expect(reports.entries.first?.queue == "outer" && reports.entries.first?.path == ["GroupOperation 'g'"])
        group.cancel()
        group.waitUntilFinished()
    }

    @Test func `a child that needs the exclusive name of its group is a stall, reported as a cycle`() {
        let (group, queue, reports, reported) = watchedGroup()
        group.addRequirement(.exclusive("of a group and its child"))
        let child = Operation(named: "child")
        child.addRequirement(.exclusive("of a group and its child"))
        group.addChild(child)
        queue.addOperation(group)
        reported.pass()
        let (a, b) = ("Operation 'child'", "GroupOperation 'g'")
        #expect(
            reports.entries[0].blocked[0].reasons == [
                .exclusion("of a group and its child", heldBy: b), .cycle([a, b, a]),
            ])
        group.cancel()
        group.waitUntilFinished()
    }

    @Test func `an attempt that needs the exclusive name of its retry operation is a stall, reported as a cycle`() {
        let (_, queue, reports, reported) = watchedGroup()
        let retry = RetryOperation(.init(retries: 0)) { _ in
            let attempt = Operation(named: "attempt")
            attempt.addRequirement(.exclusive("of a retry operation and its attempt"))
            return attempt
        }
        retry.name = "r"
        retry.addRequirement(.exclusive("of a retry operation and its attempt"))
        queue.addOperation(retry)
        reported.pass()
        let (a, b) = ("Operation 'attempt'", "RetryOperation 'r'")
        #expect(
            reports.entries[0].blocked[0].reasons == [
                .exclusion("of a retry operation and its attempt", heldBy: b), .cycle([a, b, a]),
            ])
        retry.cancel()
        retry.waitUntilFinished()
    }

    @Test func `a child that waits for an operation behind its group is a stall`() {
        let (group, queue, reports, reported) = watchedGroup()
        let (child, behind) = (Operation(named: "child"), Operation(named: "behind"))
        child.addDependency(behind)
        group.addChild(child)
        queue.name = "serial"
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(group)
        queue.addOperation(behind)
        reported.pass()
        let (a, b) = ("Operation 'child'", "Operation 'behind'")
        #expect(
            reports.entries[0].blocked[0].reasons
                == [.dependency(b), .cycle([a, b, "a slot of queue 'serial'", "GroupOperation 'g'", a])])
        group.cancel()
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rules N3, L7: a common bug in ported code. Without a report the hang would have no visible cause.
    @Test(arguments: [1, 10]) func `an end that is never announced is a stall, regardless of waiting operations`(
        width: Int
    ) {
        let observer = StallObserver(delay: .milliseconds(2))
        observer.queue.maxConcurrentOperationCount = width
        let operation = Forgetful()
        operation.name = "silent"
        let waiting = Operation(named: "waiting")
        waiting.addDependency(operation)
        let report = observer.report {
            observer.queue.addOperation(operation)
            observer.queue.addOperation(waiting)
            if width == 1 { observer.queue.addOperation {} }
        }
        #expect(report.reasons["Forgetful 'silent'"] == [.finishNotAnnounced])
        #expect(report.reasons["Operation 'waiting'"] == [.dependency("Forgetful 'silent'")])
        operation.didChangeValue(forKey: "isFinished")
        observer.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an operation that executes in no queue is not a stall`() {
        let observer = StallObserver(delay: .milliseconds(1))
        let operation = AsynchronousOperation()
        observer.queue.addOperation(operation)
        while !operation.isExecuting {}
        StallObserver.letTimersPass()
        #expect(observer.reports.isEmpty)
        operation.finish()
        observer.queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `needing more units than the reduced capacity is a stall`() throws {
        let observer = StallObserver()
        let pool = ResourcePool(["memory": 4])
        let operation = Operation(named: "large")
        operation.addRequirement(.units(4, of: "memory", in: pool))
        pool.setCapacity(2, of: "memory")
        let report = observer.report { observer.queue.addOperation(operation) }
        #expect(
            report.reasons == ["Operation 'large'": [.resource(name: "memory", units: 4, inUse: 0, capacity: 2)]])
        pool.setCapacity(4, of: "memory")
        operation.waitUntilFinished()
    }
}

/// Has finished when its `start()` has returned, without an announcement.
private final class Forgetful: Operations.Operation, @unchecked Sendable {
    private let isDone = Guarded(false)

    override var isFinished: Bool { isDone.withLock { $0 } }
    override var isExecuting: Bool { false }
    override func start() { isDone.withLock { $0 = true } }
}
