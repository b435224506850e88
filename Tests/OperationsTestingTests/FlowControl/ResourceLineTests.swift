import Operations
import OperationsTesting
import TestSupport
import Testing

/// Rule A9: an operation that waits for a resource under one policy does not keep the resource from others.
@Suite(.timeLimit(.minutes(5))) struct ResourceLineTests {
    private let executor = ManualExecutor()
    private let clock = VirtualClock()

    private func operation(_ journal: Journal<String>, _ name: String, seconds: Int64) -> TaskOperation<Void> {
        TaskOperation { [clock] in
            journal.append("\(name) \(clock.now.offset.components.seconds)")
            try await clock.sleep(for: .seconds(seconds))
        }
    }

    @Test func `a unit that is offered to an operation without its turn goes to the next one`() throws {
        let (keyed, other) = (executor.makeQueue(), executor.makeQueue())
        let pool = ResourcePool(["unit": 1])
        let unit = OperationRequirement.units(1, of: "unit", in: pool)
        let journal = Journal<String>()
        keyed.setLimitPerKey(1)
        let holder = operation(journal, "holder", seconds: 1)
        holder.addRequirement(unit)
        other.addOperation(holder)
        executor.runUntilIdle()
        let first = operation(journal, "first", seconds: 1)
        first.addRequirement(unit)
        keyed.addOperation(first, limitKey: "key")
        executor.runUntilIdle()
        // This operation uses the turn of the key, because the first one waits for the unit.
        keyed.addOperation(operation(journal, "long", seconds: 10), limitKey: "key")
        executor.runUntilIdle()
        let second = operation(journal, "second", seconds: 1)
        second.addRequirement(unit)
        other.addOperation(second)
        executor.runUntilIdle(advancing: clock)
        #expect(journal.entries == ["holder 0", "long 0", "second 1", "first 10"])
    }

    @Test func `an operation needs all the exclusive names that it requires`() {
        let queue = executor.makeQueue()
        let journal = Journal<String>()
        let holder = operation(journal, "holder", seconds: 5)
        holder.addRequirement(.exclusive("ResourceLineTests.b"))
        let both = operation(journal, "both", seconds: 1)
        both.addRequirement(.exclusive("ResourceLineTests.a"))
        both.addRequirement(.exclusive("ResourceLineTests.b"))
        queue.addOperation(holder)
        executor.runUntilIdle()
        queue.addOperation(both)
        executor.runUntilIdle(advancing: clock)
        #expect(journal.entries == ["holder 0", "both 5"])
    }

    @Test func `units of one resource in several requirements add up`() throws {
        let queue = executor.makeQueue()
        let pool = ResourcePool(["unit": 3])
        let journal = Journal<String>()
        let holder = operation(journal, "holder", seconds: 5)
        holder.addRequirement(.units(2, of: "unit", in: pool))
        let both = operation(journal, "both", seconds: 1)
        for _ in 0..<2 { both.addRequirement(.units(1, of: "unit", in: pool)) }
        queue.addOperation(holder)
        executor.runUntilIdle()
        queue.addOperation(both)
        executor.runUntilIdle(advancing: clock)
        #expect(journal.entries == ["holder 0", "both 5"])
        #expect(pool.usage(of: "unit") == .init(capacity: 3, inUse: 0, waiting: 0))
    }
}
