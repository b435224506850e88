import DurableCore
import Testing

@Suite struct CounterChangesTests {
    private func counter(_ epoch: Int64, _ state: DurableState = .ready) -> Counter {
        Counter(queue: QueueID(1), epoch: epoch, kind: KindID(1), state: state)
    }

    @Test func `the first epoch with operations counts changes that are not stored`() {
        let stored: [Int64: [Counter: Int64]] = [0: [counter(0): 1], 2: [counter(2): 1], 6: [counter(6): 1]]
        var changes = CounterChanges()
        func first(from epoch: Int64) -> Int64? {
            changes.firstEpoch(of: QueueID(1), from: epoch, load: { stored[$0.epoch] ?? [:] }) { epoch in
                stored.keys.filter { $0 >= epoch }.min()
            }
        }
        #expect(first(from: 0) == 0)
        changes.count(counter(0), by: -1)
        changes.count(counter(2), by: -1)
        #expect(first(from: 0) == 6)
        changes.count(counter(4), by: 1)
        #expect(first(from: 0) == 4)
        #expect(first(from: 5) == 6)
        changes.count(counter(6), by: -1)
        #expect(first(from: 5) == nil)
    }

    @Test func `the number of running operations has all changes, before and after the load`() {
        var changes = CounterChanges()
        changes.count(counter(0, .running), by: 2)
        changes.count(counter(0, .ready), by: 9)
        #expect(changes.runningCount(of: QueueID(1)) { 3 } == 5)
        changes.count(counter(4, .running), by: -1)
        #expect(changes.runningCount(of: QueueID(1)) { 100 } == 4)
        #expect(changes.runningCount(of: QueueID(2)) { 7 } == 7)
    }

    @Test func `a counter may be zero unless its epoch is loaded`() {
        var changes = CounterChanges()
        #expect(changes.mayBeZero(counter(0)))
        let found = changes.counters(of: EpochName(queue: QueueID(1), epoch: 0)) { _ in [counter(0): 2] }
        #expect(found == [counter(0): 2])
        #expect(!changes.mayBeZero(counter(0)))
        changes.count(counter(0), by: -2)
        #expect(changes.mayBeZero(counter(0)))
        #expect(changes.counters(of: QueueID(1), stored: [counter(0): 2]).isEmpty)
    }
}
