import TestSupport
import Testing

@testable import SchedulerCore

/// The line of a key keeps few entries for members that no longer wait.
@Suite(.timeLimit(.minutes(1))) struct TurnstileMemoryTests {
    /// A turnstile whose key is full, with the members 1, 2, ... that wait.
    private func full(waiting: UInt) -> Turnstile {
        var turnstile = Turnstile()
        _ = turnstile.setDefaultLimit(1)
        #expect(turnstile.becameReady(1000, key: "a", lane: .normal, arrival: 1).offered == [1000])
        #expect(turnstile.started(1000) == nil)
        for id in 0..<waiting {
            #expect(turnstile.becameReady(id, key: "a", lane: .normal, arrival: UInt64(id + 2)) == Turnstile.Shift())
        }
        return turnstile
    }

    private func order(_ turnstile: inout Turnstile) -> [Turnstile.ID] {
        var (order, next): ([Turnstile.ID], Turnstile.ID?) = ([], turnstile.left(1000))
        while let id = next {
            order.append(id)
            #expect(turnstile.started(id) == nil)
            next = turnstile.left(id)
        }
        return order
    }

    @Test func `a member that gets ready and unready very often has few entries`() {
        var turnstile = full(waiting: 10)
        var most = 0
        for _ in 0..<Stress.rounds(100_000, least: 10_000) {
            _ = turnstile.left(5)
            _ = turnstile.becameReady(5, key: "a", lane: .normal, arrival: 7)
            most = max(most, turnstile.entryCount)
        }
        #expect(most <= 33)
        #expect(order(&turnstile) == Array(0..<10))
    }

    @Test func `a member whose priority changes very often has few entries, and its place`() {
        var turnstile = full(waiting: 10)
        var most = 0
        for round in 0..<Stress.rounds(100_000, least: 10_000) {
            let lane: PriorityLane = round % 2 == 0 ? .high : .normal
            _ = turnstile.becameReady(5, key: "a", lane: lane, arrival: 7)
            most = max(most, turnstile.entryCount)
        }
        #expect(most <= 33)
        #expect(order(&turnstile) == Array(0..<10))
    }

    @Test func `very many members that leave without a turn leave no entries, in linear time`() {
        var turnstile = full(waiting: 0)
        let count = UInt(Stress.rounds(100_000, least: 10_000))
        for round in 0..<2 {
            for id in 0..<count {
                _ = turnstile.becameReady(id, key: "a", lane: .normal, arrival: UInt64(id) + 2)
            }
            for id in 0..<count { _ = turnstile.left(round == 0 ? id : count - 1 - id) }
            #expect(turnstile.entryCount <= 32)
        }
        #expect(order(&turnstile) == [])
    }
}
