import Operations
import OperationsTesting
import Testing

/// Stalls of operations that hold units, slots or turns of keys, and wait inside for an operation that needs them.
struct HeldPlacesTests {
    private let executor = ManualExecutor()
    private let never = BlockOperation {}

    private func waits(for operation: Operations.Operation, _ name: String, units: Int = 0, of pool: ResourcePool)
        -> TaskOperation<Void>
    {
        let waiting = TaskOperation { await operation.waitUntilFinished() }
        waiting.name = name
        if units > 0 { waiting.addRequirement(.units(units, of: "memory", in: pool)) }
        return waiting
    }

    @Test(arguments: [1, 2, 3])
    func `holders of a resource that wait for one that needs it are a stall, as one and as several`(
        count: Int
    ) throws {
        let pool = ResourcePool(["memory": count])
        let (queue, other) = (executor.makeQueue(), executor.makeQueue())
        let needy = BlockOperation {}
        needy.name = "needy"
        needy.addRequirement(.units(count, of: "memory", in: pool))
        let holders = (1...count).map { waits(for: needy, "holder \($0)", units: 1, of: pool) }
        for holder in holders { queue.addOperation(holder) }
        executor.runUntilIdle()
        other.addOperation(needy)
        executor.runUntilIdle()
        for queue in [queue, other] {
            let report = try #require(queue.stallReport())
            #expect(
                report.blocked.allSatisfy { explanation in
                    explanation.reasons.contains { if case .cycle = $0 { true } else { false } }
                }, "\(report)")
        }
        let path = other.explain(needy).description
        #expect(path.contains(count == 1 ? "TaskOperation 'holder 1'" : "units of 'memory'"), "\(path)")
        // More units end the stall.
        pool.setCapacity(2 * count, of: "memory")
        #expect(other.stallReport() == nil)
        executor.runUntilIdle()
        #expect(queue.isEmpty)
    }

    @Test func `a resource of which one holder may end is no stall`() {
        let pool = ResourcePool(["memory": 2])
        let (queue, other) = (executor.makeQueue(), executor.makeQueue())
        let needy = BlockOperation {}
        needy.addRequirement(.units(1, of: "memory", in: pool))
        queue.addOperation(waits(for: never, "waiting", units: 1, of: pool))
        let moving = Announced()
        moving.addRequirement(.units(1, of: "memory", in: pool))
        queue.addOperation(moving)
        executor.runUntilIdle()
        other.addOperation(needy)
        executor.runUntilIdle()
        #expect(queue.stallReport() == nil && other.stallReport() == nil)
        moving.end()
        executor.runUntilIdle()
        #expect(needy.isFinished && queue.stallReport() != nil)
        never.start()
        executor.runUntilIdle()
        #expect(queue.isEmpty && other.isEmpty)
    }

    @Test func `an operation of a key that has turns left is held by no operation`() {
        let queue = executor.makeQueue()
        queue.setLimitPerKey(2)
        queue.addOperation(waits(for: never, "waiting", of: ResourcePool()), limitKey: "host")
        executor.runUntilIdle()
        let (next, last) = (BlockOperation {}, BlockOperation {})
        queue.addOperation(next, limitKey: "host")
        queue.addOperation(last, limitKey: "host")
        #expect(queue.explain(last).reasons == [.key("host", heldBy: [])])
        never.start()
        executor.runUntilIdle()
        #expect(queue.isEmpty)
    }

    @Test func `an operation whose key has turns left waits for a slot, and its queue is stalled`() {
        let queue = executor.makeQueue()
        queue.maxConcurrentOperationCount = 1
        queue.setLimitPerKey(2)
        // Of two operations of a key, one has the turn before the other.
        let keyed = [BlockOperation {}, BlockOperation {}]
        let clock = VirtualClock()
        for operation in keyed {
            operation.addCondition(.notBefore(.init(offset: .milliseconds(5)), clock: clock))
            queue.addOperation(operation, limitKey: "host")
        }
        executor.runUntilIdle()
        queue.addOperation(waits(for: never, "waiting", of: ResourcePool()))
        executor.runUntilIdle(advancing: clock)
        for operation in keyed {
            #expect(queue.explain(operation).description.hasSuffix("taken by TaskOperation 'waiting'"))
        }
        let blocked = queue.stallReport()?.blocked.map(\.description) ?? []
        #expect(blocked.count == 3 && blocked.count { $0.hasSuffix("taken by TaskOperation 'waiting'") } == 2)
        never.start()
        executor.runUntilIdle()
        #expect(keyed.allSatisfy(\.isFinished) && queue.isEmpty)
    }
}

/// An operation that the test ends.
private final class Announced: Operations.Operation, @unchecked Sendable {
    // Sendable: used on one thread.
    private var phase = 0 {
        willSet { for key in ["isExecuting", "isFinished"] { willChangeValue(forKey: key) } }
        didSet { for key in ["isExecuting", "isFinished"] { didChangeValue(forKey: key) } }
    }

    override var isAsynchronous: Bool { true }
    override var isExecuting: Bool { phase == 1 }
    override var isFinished: Bool { phase == 2 }
    override func start() { phase = 1 }
    func end() { phase = 2 }
}

extension OperationQueue {
    fileprivate var isEmpty: Bool { snapshot().executing + snapshot().waiting == 0 }
}
