@testable import Operations
import SchedulerCore
import TestSupport
import Testing

/// Section 3, rules P1, P2 and P4: the operation that gets a free slot.
@Suite(.timeLimit(.minutes(5))) struct PriorityTests {
    typealias Priority = Operations.Operation.QueuePriority

    /// Rule P1.
    @Test func `priorities have the raw values of Apple's systems and normal is the default`() {
        #expect(Priority.allCases.map(\.rawValue).sorted() == [-8, -4, 0, 4, 8])
        #expect(Priority.veryLow.rawValue == -8 && Priority.low.rawValue == -4)
        #expect(Priority.high.rawValue == 4 && Priority.veryHigh.rawValue == 8)
        #expect(Operation().queuePriority == .normal)
    }

    /// Rule P1.
    @Test(arguments: [
        (Int.min, Priority.veryLow), (-10, .veryLow), (-8, .veryLow), (-7, .low), (-5, .low), (-4, .low),
        (-3, .normal), (-1, .normal), (0, .normal), (1, .normal), (3, .normal), (4, .high), (5, .high), (7, .high),
        (8, .veryHigh), (9, .veryHigh), (Int.max, .veryHigh),
    ])
    func `a value between two constants moves toward normal to the next constant`(value: Int, priority: Priority) {
        #expect(Priority(clamping: value) == priority)
    }

    /// Rule P1.
    @Test(arguments: Priority.allCases) func `a priority reads back as set`(priority: Priority) {
        let operation = Operation()
        operation.queuePriority = priority
        #expect(operation.queuePriority == priority)
    }

    /// Rule P2.
    @Test func `the highest priority starts first and equal ones in order of adding`() {
        let held = HeldQueue()
        let log = Journal<String>()
        for round in 0..<20 {
            for priority: Priority in [.low, .veryHigh, .normal, .veryLow, .high] {
                held.queue.add("\(priority) \(round)", priority, to: log)
            }
        }
        held.release()
        let expected = [Priority.veryHigh, .high, .normal, .low, .veryLow].flatMap { priority in
            (0..<20).map { "\(priority) \($0)" }
        }
        #expect(log.entries == expected)
    }

    /// Rule P2.
    @Test func `a ready low operation starts before an unready high one`() {
        let queue = OperationQueue()
        let log = Journal<String>()
        queue.maxConcurrentOperationCount = 1
        let dependency = BlockOperation { log.append("dependency") }
        let high = BlockOperation { log.append("high") }
        high.queuePriority = .veryHigh
        high.addDependency(dependency)
        let low = BlockOperation { log.append("low") }
        low.queuePriority = .veryLow
        queue.addOperations([high, low], waitUntilFinished: false)
        low.waitUntilFinished()
        dependency.start()
        high.waitUntilFinished()
        #expect(log.entries == ["low", "dependency", "high"])
    }

    /// Rule P2: the order is that of entering the queue, not of becoming ready.
    @Test func `among equal operations, an operation that became ready late keeps its place`() {
        let held = HeldQueue()
        let log = Journal<String>()
        let dependency = Operation()
        for name in ["a", "b"] {
            let late = BlockOperation { log.append(name) }
            late.addDependency(dependency)
            held.queue.addOperation(late)
            held.queue.add("after \(name)", .normal, to: log)
        }
        dependency.start()
        held.release()
        #expect(log.entries == ["a", "after a", "b", "after b"])
    }

    /// Rule P2: an operation that becomes ready by the end of another one competes for the slot of that operation.
    @Test func `a dependent competes for the slot of its dependency`() {
        let held = HeldQueue()
        let log = Journal<String>()
        let first = BlockOperation { log.append("first") }
        let dependent = BlockOperation { log.append("dependent") }
        dependent.addDependency(first)
        dependent.queuePriority = .high
        held.queue.addOperation(first)
        held.queue.add("other", .normal, to: log)
        held.queue.addOperation(dependent)
        held.release()
        #expect(log.entries == ["first", "dependent", "other"])
    }

    /// Rule P2, with the default limit: all slots are used, then one is freed repeatedly.
    @Test func `with the default limit, the free slot goes to the highest priority`() {
        let held = HeldQueue(width: nil)
        let log = Journal<String>()
        for round in 0..<5 {
            for priority: Priority in [.veryLow, .high, .low, .veryHigh, .normal] {
                held.queue.add("\(priority) \(round)", priority, to: log)
            }
        }
        let last = BlockOperation()
        last.queuePriority = .veryLow
        held.queue.addOperation(last)
        held.freeOne()
        last.waitUntilFinished()
        let expected = [Priority.veryHigh, .high, .normal, .low, .veryLow].flatMap { priority in
            (0..<5).map { "\(priority) \($0)" }
        }
        #expect(log.entries == expected)
        held.release()
    }

    /// Rule P2: at most as many operations as run at a time can overtake each other in the log.
    @Test func `with the default limit, no low operation starts while more high ones wait than can run`() throws {
        let queue = OperationQueue()
        let log = Journal<Bool>()
        queue.isSuspended = true
        for _ in 0..<500 {
            queue.add(false, .low, to: log)
            queue.add(true, .high, to: log)
        }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let firstLow = try #require(log.entries.firstIndex(of: false))
        #expect(firstLow >= 500 - OperationQueue.defaultMaxThreadCount)
    }

    /// Rule P4.
    @Test func `priority does not override a dependency`() {
        let held = HeldQueue()
        let log = Journal<String>()
        let low = BlockOperation { log.append("low") }
        low.queuePriority = .veryLow
        let high = BlockOperation { log.append("high") }
        high.queuePriority = .veryHigh
        high.addDependency(low)
        held.queue.addOperation(high)
        held.queue.addOperation(low)
        held.queue.add("normal", .normal, to: log)
        held.release()
        #expect(log.entries == ["normal", "low", "high"])
    }

    @Test(arguments: [Priority.veryLow, .low, .normal])
    func `a task that runs a closure raises it only if the task asks for no priority below normal`(
        priority: Priority
    ) async throws {
        let held = HeldQueue()
        let log = Journal<String>()
        let caller = Task(priority: .high) {
            try await held.queue.run(name: "awaited", priority: priority) { log.append("awaited") }
        }
        while held.queue.listed().first(where: { $0.name == "awaited" })?.word.lifecycle.contains(.hasWaiters) != true {
            await Task.yield()
        }
        held.queue.add("normal", .normal, to: log)
        held.release()
        try await caller.value
        #expect(log.entries == (priority == .normal ? ["awaited", "normal"] : ["normal", "awaited"]))
    }

    /// Rule P4.
    @Test func `priority has no effect on another queue`() {
        let held = HeldQueue()
        let other = OperationQueue()
        let log = Journal<String>()
        for _ in 0..<10 { held.queue.add("high", .veryHigh, to: log) }
        other.add("low", .veryLow, to: log)
        other.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["low"])
        held.release()
    }
}

extension OperationQueue {
    fileprivate func add<Entry: Sendable>(
        _ entry: Entry, _ priority: Operations.Operation.QueuePriority, to log: Journal<Entry>
    ) {
        let operation = BlockOperation { log.append(entry) }
        operation.queuePriority = priority
        addOperation(operation)
    }
}
