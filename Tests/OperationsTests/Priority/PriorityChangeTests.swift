import Operations
import TestSupport
import Testing

/// Rule P3: a change of `queuePriority` reorders waiting operations.
@Suite(.timeLimit(.minutes(5))) struct PriorityChangeTests {
    private func operations(_ names: String, to log: Journal<Character>) -> [Character: Operations.Operation] {
        var operations: [Character: Operations.Operation] = [:]
        for name in names { operations[name] = BlockOperation { log.append(name) } }
        return operations
    }

    /// Rule P3.
    @Test func `a raised operation overtakes and a lowered one falls back`() {
        let held = HeldQueue()
        let log = Journal<Character>()
        let operations = operations("abcd", to: log)
        for name in "abcd" { held.queue.addOperation(operations[name]!) }
        operations["d"]!.queuePriority = .high
        operations["a"]!.queuePriority = .low
        held.release()
        #expect(log.entries == ["d", "b", "c", "a"])
    }

    /// Rule P3.
    @Test func `after a change and back an operation has its old place`() {
        let held = HeldQueue()
        let log = Journal<Character>()
        let operations = operations("abc", to: log)
        for name in "abc" { held.queue.addOperation(operations[name]!) }
        for priority in [Operation.QueuePriority.veryLow, .veryHigh, .low, .normal] {
            operations["b"]!.queuePriority = priority
        }
        held.release()
        #expect(log.entries == ["a", "b", "c"])
    }

    /// Rule P3.
    @Test func `many changes of many operations end in the order of the last ones`() {
        let held = HeldQueue()
        let log = Journal<Int>()
        let operations = (0..<50).map { i in BlockOperation { log.append(i) } }
        for operation in operations { held.queue.addOperation(operation) }
        for round in 0..<100 {
            for (i, operation) in operations.enumerated() {
                operation.queuePriority = Operation.QueuePriority.allCases[(i + round) % 5]
            }
        }
        for (i, operation) in operations.enumerated() { operation.queuePriority = i % 2 == 0 ? .low : .high }
        held.release()
        #expect(log.entries == (0..<50).filter { $0 % 2 == 1 } + (0..<50).filter { $0 % 2 == 0 })
    }

    /// Rule P3.
    @Test func `a change while the queue is suspended takes effect`() {
        let queue = OperationQueue()
        let log = Journal<Character>()
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let operations = operations("abc", to: log)
        for name in "abc" { queue.addOperation(operations[name]!) }
        operations["c"]!.queuePriority = .veryHigh
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["c", "a", "b"])
    }

    /// Rule P3: the change is remembered until the operation is ready.
    @Test func `a change while an operation is not ready takes effect when it is ready`() {
        let held = HeldQueue()
        let log = Journal<Character>()
        let operations = operations("abc", to: log)
        let dependency = Operation()
        operations["c"]!.addDependency(dependency)
        for name in "abc" { held.queue.addOperation(operations[name]!) }
        operations["c"]!.queuePriority = .high
        dependency.start()
        held.release()
        #expect(log.entries == ["c", "a", "b"])
    }

    /// Rule P3: the change applies to the next start.
    @Test func `a change made inside an operation takes effect for the next operation`() {
        let held = HeldQueue()
        let log = Journal<Character>()
        let operations = operations("abc", to: log)
        let last = operations["c"]!
        held.queue.addOperation {
            log.append("x")
            last.queuePriority = .high
        }
        for name in "abc" { held.queue.addOperation(operations[name]!) }
        held.release()
        #expect(log.entries == ["x", "c", "a", "b"])
    }

    /// Rule P3.
    @Test func `changing the priority of a running or finished operation has no effect`() {
        let queue = OperationQueue()
        let (started, gate) = (Gate(), Gate())
        queue.maxConcurrentOperationCount = 1
        let operation = BlockOperation {
            started.open()
            gate.pass()
        }
        queue.addOperation(operation)
        started.pass()
        operation.queuePriority = .high
        gate.open()
        operation.waitUntilFinished()
        operation.queuePriority = .low
        #expect(operation.queuePriority == .low)
        let log = Journal<Int>()
        queue.addOperation { log.append(1) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [1])
    }

    /// Rule P3, with rule L14: an overridden priority applies, and so does its announced change.
    @Test func `an overridden priority is read when added and when announced`() {
        let held = HeldQueue()
        let log = Journal<String>()
        let urgent = OverridingPriority(.high) { log.append("urgent") }
        let other = OverridingPriority(.low) { log.append("other") }
        held.queue.addOperation { log.append("normal") }
        held.queue.addOperation(other)
        held.queue.addOperation(urgent)
        other.change(to: .veryHigh)
        held.release()
        #expect(log.entries == ["other", "urgent", "normal"])
    }
}

private final class OverridingPriority: Operations.Operation, @unchecked Sendable {
    private let own: Guarded<QueuePriority>
    private let work: @Sendable () -> Void

    init(_ priority: QueuePriority, _ work: @escaping @Sendable () -> Void) {
        own = Guarded(priority)
        self.work = work
    }

    override var queuePriority: QueuePriority {
        get { own.withLock { $0 } }
        set { change(to: newValue) }
    }

    func change(to priority: QueuePriority) {
        willChangeValue(for: \.queuePriority)
        own.withLock { $0 = priority }
        didChangeValue(for: \.queuePriority)
    }

    override func main() { work() }
}
