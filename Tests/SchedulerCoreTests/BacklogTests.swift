import SchedulerCore
import TestSupport
import Testing

@Suite struct BacklogTests {
    @Test func `as many enter as there are places, and waiters are served in order`() {
        var backlog = Backlog<String>(capacity: 2)
        let entered = [backlog.enter(), backlog.enter(), backlog.enter()]
        #expect(entered == [true, true, false])
        _ = backlog.wait("a")
        _ = backlog.wait("b")
        #expect(backlog.waitingCount == 2)
        let next = [backlog.leave(), backlog.leave(), backlog.leave()]
        #expect(next == ["a", "b", nil])
        #expect(backlog.occupied == 1)
    }

    @Test func `no member overtakes a waiter, and a batch enters completely or not at all`() {
        var backlog = Backlog<String>(capacity: 3)
        let batch = [backlog.enter(4), backlog.enter(3)]
        #expect(batch == [false, true])
        _ = backlog.wait("a")
        let admitted = backlog.setCapacity(5)
        #expect(admitted == ["a"])
        let last = [backlog.enter(), backlog.enter()]
        #expect(last == [true, false])
    }

    @Test func `a withdrawn waiter is skipped`() {
        var backlog = Backlog<String>(capacity: 1)
        _ = backlog.enter()
        let first = backlog.wait("a")
        _ = backlog.wait("b")
        let withdrawn = [backlog.withdraw(first), backlog.withdraw(first)]
        #expect(withdrawn == ["a", nil])
        let next = [backlog.leave(), backlog.leave()]
        #expect(next == ["b", nil])
        #expect(backlog.waitingCount == 0 && backlog.occupied == 0)
    }

    @Test func `a lowered capacity admits no waiter until enough members have left`() {
        var backlog = Backlog<String>(capacity: 3)
        _ = backlog.enter(3)
        let admitted = backlog.setCapacity(1)
        #expect(admitted.isEmpty)
        _ = backlog.wait("a")
        let next = [backlog.leave(), backlog.leave(), backlog.leave()]
        #expect(next == [nil, nil, "a"])
    }

    @Test func `the number of missing places counts waiters, so free places are not for overtaking members`() {
        var backlog = Backlog<String>(capacity: 3)
        backlog.enter(2, insteadOf: 0)
        let missing = [1, 2, 5].map(backlog.missing)
        #expect(missing == [0, 1, 4])
        backlog.enter(2, insteadOf: 1)
        #expect(backlog.occupied == 3)
        _ = backlog.setCapacity(1)
        #expect(backlog.missing(for: 1) == 1)
        _ = backlog.wait("a")
        _ = backlog.setCapacity(2)
        #expect(backlog.missing(for: 2) == 2)
    }
}

extension BacklogTests {
    /// It would take hours if each withdrawal searched the line.
    @Test func `withdrawing many waiters, in any order, keeps the order of the others and releases the withdrawn`() {
        var backlog = Backlog<Int>(capacity: 1)
        _ = backlog.enter()
        let ids = (0..<100_000).map { backlog.wait($0) }
        for index in ids.indices.reversed() where !index.isMultiple(of: 1000) { _ = backlog.withdraw(ids[index]) }
        #expect(backlog.waitingCount == 100)
        let next = (0..<101).map { _ in backlog.leave() }
        #expect(next == (0..<100).map { $0 * 1000 } + [nil])
    }
}
