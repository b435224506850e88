@testable import Operations
import SchedulerCore
import TestSupport
import Testing

/// `priorityPolicy`: deviations from `queuePriority` and arrival.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct PriorityInheritanceTests {
    private let held = HeldQueue()
    private let log = Journal<String>()
    private var queue: OperationQueue { held.queue }

    private func add(
        _ name: String, _ priority: Operation.QueuePriority, after: [Operation] = [], to queue: OperationQueue? = nil
    ) -> Operation {
        let operation = BlockOperation { [log] in log.append(name) }
        operation.name = name
        operation.queuePriority = priority
        for dependency in after { operation.addDependency(dependency) }
        (queue ?? self.queue).addOperation(operation)
        return operation
    }

    private func inherit(starvationLimit: Int? = nil) throws {
        queue.priorityPolicy = .init(inheritsPriority: true, starvationLimit: starvationLimit)
    }

    @Test func `without inheritance, a dependency of an urgent operation waits for its turn`() {
        let low = add("low", .low)
        _ = add("normal", .normal)
        _ = add("urgent", .veryHigh, after: [low])
        held.release()
        #expect(log.entries == ["normal", "low", "urgent"])
    }

    @Test func `an operation has at least the priority of its direct and indirect dependents`() throws {
        try inherit()
        let lows = [add("first", .veryLow)]
        let middle = (1...3).reduce(into: lows) { $0.append(add("middle \($1)", .low, after: [$0.last!])) }
        _ = add("normal", .normal)
        _ = add("urgent", .high, after: [middle.last!])
        held.release()
        #expect(log.entries == ["first", "middle 1", "middle 2", "middle 3", "urgent", "normal"])
    }

    @Test func `a closure inherits whose addition began before the policy was set, and ended after that`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        queue.priorityPolicy = .init(inheritsPriority: true)
        // The adding thread has found no hooks.
        queue.addNew(BlockOperation {})
        #expect(queue.listed().map { $0.word.lifecycle.contains(.inherits) } == [true])
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `closures that are added while another thread begins inheritance inherit`() {
        for _ in 0..<Stress.rounds(200, least: 20) {
            let queue = OperationQueue()
            queue.isSuspended = true
            let hasBegun = Gate()
            let adder = TestThread {
                queue.addOperation {}
                hasBegun.open()
                for _ in 0..<199 { queue.addOperation {} }
            }
            hasBegun.pass()
            queue.priorityPolicy = .init(inheritsPriority: true)
            adder.join()
            let members = queue.listed()
            #expect(members.count == 200)
            #expect(members.allSatisfy { $0.word.lifecycle.contains(.inherits) })
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `the order of adding, depending and setting priorities does not matter`() throws {
        try inherit()
        // The dependent is added first.
        let low = BlockOperation { [log] in log.append("low") }
        low.queuePriority = .low
        let urgent = add("urgent", .veryHigh, after: [low])
        _ = add("normal", .normal)
        queue.addOperation(low)
        // The dependency is added later.
        let other = add("other", .veryLow)
        let late = add("late", .low)
        late.queuePriority = .high
        late.addDependency(other)
        // The priority is set later.
        let third = add("third", .veryLow)
        let raised = add("raised", .low, after: [third])
        raised.queuePriority = .high
        held.release()
        #expect(log.entries == ["low", "urgent", "other", "late", "third", "raised", "normal"])
        withExtendedLifetime(urgent) {}
    }

    @Test func `priorities are inherited across queues, also through a queue without inheritance`() throws {
        try inherit()
        let between = HeldQueue()
        let low = add("low", .veryLow)
        let middle = add("middle", .veryLow, after: [low], to: between.queue)
        _ = add("normal", .normal)
        let elsewhere = OperationQueue()
        let urgent = add("urgent", .veryHigh, after: [middle], to: elsewhere)
        let plain = add("plain", .low, to: between.queue)
        #expect(between.queue.lane(of: middle) == .veryLow)
        held.release()
        between.release()
        urgent.waitUntilFinished()
        plain.waitUntilFinished()
        #expect(log.entries.prefix(2) == ["low", "normal"])
    }

    @Test func `operations that wait when inheritance begins take part, and stay raised when it ends`() throws {
        let low = add("low", .low)
        _ = add("normal", .normal)
        _ = add("urgent", .veryHigh, after: [low])
        #expect(queue.lane(of: low) == .low)
        try inherit()
        #expect(queue.lane(of: low) == .veryHigh)
        queue.priorityPolicy = .default
        #expect(queue.lane(of: low) == .veryHigh)
        let later = add("later", .low)
        _ = add("urgent too", .veryHigh, after: [later])
        #expect(queue.lane(of: later) == .low)
        held.release()
        #expect(log.entries == ["low", "urgent", "normal", "later", "urgent too"])
    }

    /// Sets the policy while the queue reads the priority of an operation that is being added.
    private final class PolicySetter: Operation, @unchecked Sendable {
        private let target: OperationQueue
        init(_ target: OperationQueue) { self.target = target }

        override var queuePriority: QueuePriority {
            get {
                target.priorityPolicy = .init(inheritsPriority: true)
                return .veryLow
            }
            set {}
        }
    }

    @Test func `operations that are being added when the policy is set inherit too`() {
        for isBatch in [false, true] {
            let held = HeldQueue()
            let low = PolicySetter(held.queue)
            if isBatch {
                held.queue.addOperations([low], waitUntilFinished: false)
            } else {
                held.queue.addOperation(low)
            }
            let urgent = BlockOperation {}
            urgent.queuePriority = .high
            urgent.addDependency(low)
            held.queue.addOperation(urgent)
            #expect(held.queue.lane(of: low) == .high)
            held.release()
        }
    }

    @Test func `a raised operation keeps the lent priority when its own priority is lowered`() throws {
        try inherit()
        let low = add("low", .normal)
        _ = add("urgent", .high, after: [low])
        low.queuePriority = .veryLow
        #expect(queue.lane(of: low) == .high)
        low.queuePriority = .veryHigh
        #expect(queue.lane(of: low) == .veryHigh)
        low.queuePriority = .low
        #expect(queue.lane(of: low) == .high)
        held.release()
    }

    @Test func `inheritance ends in a cycle of operations that wait for each other`() throws {
        try inherit()
        let operations = (0..<3).map { _ in BlockOperation {} }
        for (index, operation) in operations.enumerated() { operation.addDependency(operations[(index + 1) % 3]) }
        queue.addOperations(operations, waitUntilFinished: false)
        operations[0].queuePriority = .veryHigh
        for operation in operations { #expect(queue.lane(of: operation) == .veryHigh) }
        operations[1].cancel()
        held.release()
    }

    @Test func `an operation that waits in its work lends its priority, also when that rises meanwhile`() throws {
        try inherit()
        let other = OperationQueue()
        let low = add("low", .veryLow)
        let waits = Gate()
        let waiter = BlockOperation {
            waits.open()
            low.waitUntilFinished()
        }
        waiter.queuePriority = .high
        other.addOperation(waiter)
        waits.pass()
        while queue.lane(of: low) != .high { Processor.yield() }
        // Only the next operation needs the waiter now.
        let urgent = add("urgent", .veryHigh, after: [waiter], to: other)
        #expect(queue.lane(of: low) == .veryHigh)
        held.release()
        urgent.waitUntilFinished()
    }

    @Test
    func `an awaiting task lends its priority, and a task of an operation lends the operation's too`()
        async throws
    {
        try inherit()
        let low = add("low", .veryLow)
        let first = Task(priority: .low) { await low.waitUntilFinished() }
        while queue.lane(of: low) != .low { await Task.yield() }
        let other = OperationQueue()
        let operation = TaskOperation { await low.waitUntilFinished() }
        operation.queuePriority = .high
        other.addOperation(operation)
        while queue.lane(of: low) != .high { await Task.yield() }
        operation.queuePriority = .veryHigh
        #expect(queue.lane(of: low) == .veryHigh)
        held.release()
        await first.value
        try await operation.value
    }

    @Test func `a group lends its priority to its children, and they lend it to their dependencies`() throws {
        try inherit()
        let low = add("low", .veryLow)
        let child = BlockOperation {}
        child.addDependency(low)
        let group = GroupOperation { [child] }
        let other = OperationQueue()
        other.addOperation(group)
        _ = add("urgent", .high, after: [group], to: other)
        #expect(queue.lane(of: low) == .high)
        let second = add("second", .veryLow)
        let late = BlockOperation {}
        late.addDependency(second)
        group.addChild(late)
        #expect(queue.lane(of: second) == .high)
        let third = add("third", .veryLow)
        let urgentChild = BlockOperation {}
        urgentChild.addDependency(third)
        let urgentGroup = GroupOperation { [urgentChild] }
        urgentGroup.queuePriority = .veryHigh
        other.addOperation(urgentGroup)
        #expect(queue.lane(of: third) == .veryHigh)
        held.release()
        group.waitUntilFinished()
        urgentGroup.waitUntilFinished()
    }

    @Test(.onSmallStack, .tags(.slow)) func `a very long chain of operations is raised without recursion`() throws {
        try inherit()
        let first = BlockOperation {}
        first.queuePriority = .veryLow
        var last: Operation = first
        var all: [Operation] = [first]
        for _ in 0..<Stress.rounds(100_000, least: 5_000) {
            let next = BlockOperation {}
            next.queuePriority = .veryLow
            next.addDependency(last)
            all.append(next)
            last = next
        }
        queue.addOperations(all, waitUntilFinished: false)
        #expect(queue.lane(of: first) == .veryLow)
        last.queuePriority = .high
        #expect(queue.lane(of: first) == .high)
        held.release()
    }

    @Test func `aging starts operations of low priority, and a limit below one is refused`() throws {
        queue.priorityPolicy = .init(starvationLimit: 2)
        for number in 1...6 { _ = add("high \(number)", .high) }
        for number in 1...2 { _ = add("low \(number)", .low) }
        held.release()
        #expect(log.entries == ["high 1", "high 2", "low 1", "high 3", "high 4", "low 2", "high 5", "high 6"])
        #expect(queue.priorityPolicy.starvationLimit == 2)
        #expect(OperationQueue().priorityPolicy == .default)
    }

    @Test func `with the order lastInFirstOut, the operation added last starts first`() throws {
        queue.priorityPolicy = .init(order: .lastInFirstOut)
        for number in 1...3 { _ = add("normal \(number)", .normal) }
        _ = add("high 1", .high)
        let first = add("first", .veryHigh)
        _ = add("dependent", .normal, after: [first])
        _ = add("normal 4", .normal)
        held.release()
        #expect(
            log.entries == ["first", "high 1", "dependent", "normal 4", "normal 3", "normal 2", "normal 1"],
            "who becomes ready last is first")
    }

    @Test func `a changed order applies to waiting operations, and can be changed back`() throws {
        for number in 1...3 { _ = add("\(number)", .normal) }
        queue.priorityPolicy = .init(order: .lastInFirstOut)
        _ = add("4", .normal)
        queue.priorityPolicy = .default
        _ = add("5", .normal)
        queue.priorityPolicy = .init(order: .lastInFirstOut, inheritsPriority: true)
        held.release()
        #expect(log.entries == ["5", "4", "3", "2", "1"])
    }

    /// Two threads add dependents of various priorities while a third one changes them.
    @Test(arguments: UInt64(1)...20)
    func `no priority is lost when operations, waiters and raises come at the same time`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        try inherit()
        let lows = (0..<20).map { _ in BlockOperation {} }
        for low in lows { low.queuePriority = .veryLow }
        let middles = (0..<20).map { _ in BlockOperation {} }
        let edges = (0..<40).map { _ in (random.pick(middles), random.pick(lows)) }
        let priorities = middles.map { _ in random.pick(Operation.QueuePriority.allCases) }
        let threads = [
            TestThread { for low in lows { queue.addOperation(low) } },
            TestThread { for (middle, low) in edges { middle.addDependency(low) } },
            TestThread { for middle in middles { queue.addOperation(middle) } },
            TestThread { for (middle, priority) in zip(middles, priorities) { middle.queuePriority = priority } },
        ]
        for thread in threads { thread.join() }
        for (middle, low) in edges {
            #expect(queue.lane(of: low) >= queue.lane(of: middle))
        }
        for (middle, priority) in zip(middles, priorities) { #expect(queue.lane(of: middle) >= priority.lane) }
        held.release()
    }
}
