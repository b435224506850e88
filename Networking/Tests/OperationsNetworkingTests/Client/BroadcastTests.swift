@testable import OperationsNetworking
import TestSupport
import Testing

/// The order of deliveries to followers.
@Suite(.timeLimit(.minutes(5))) struct BroadcastTests {
    @Test func `one thread delivers at a time, and repeats for later changes`() {
        var telling = Telling()
        let (first, second, third) = (telling.begin(), telling.begin(), telling.begin())
        #expect(first && !second && !third)
        let (again, rest) = (telling.told(), telling.told())
        #expect(again == .again && rest == .rest)
        let next = telling.begin()
        #expect(next)
    }

    @Test func `the end follows the current delivery, and nothing follows the end`() {
        var telling = Telling()
        _ = (telling.begin(), telling.begin())
        let isMine = telling.finish()
        #expect(!isMine)
        let (again, end) = (telling.told(), telling.told())
        #expect(again == .again && end == .end && telling.phase == .ended)
        let late = telling.begin()
        #expect(!late)
        var silent = Telling()
        let isAtOnce = silent.finish()
        #expect(isAtOnce && silent.phase == .ended)
    }

    @Test func `concurrent changes are delivered in order, and the newest is last`() async {
        for _ in 0..<20 {
            let broadcast = Broadcast<Int>()
            let (number, told) = (Guarded(0), Journal<Int>())
            broadcast.latest({ number.withLock { $0 } }) { told.append($0) }
            let stream = broadcast.latest { number.withLock { $0 } }
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<200 {
                            let isLast = number.withLock { number in
                                number += 1
                                return number == 1600
                            }
                            broadcast.tellLatest { number.withLock { $0 } }
                            if isLast { broadcast.finish() }
                        }
                    }
                }
            }
            #expect(zip(told.entries, told.entries.dropFirst()).allSatisfy { $0 < $1 } && told.entries.last == 1600)
            var last: Int?
            for await number in stream { last = number }
            #expect(last == 1600)
        }
    }

    @Test func `an unchanged element is not delivered again`() {
        let (broadcast, told, others) = (Broadcast<Int>(), Journal<Int>(), Journal<Int>())
        broadcast.latest({ 1 }) { told.append($0) }
        for number in [1, 2, 2, 3] { broadcast.tellLatest { number } }
        broadcast.latest({ 3 }) { others.append($0) }
        broadcast.tellLatest { 4 }
        #expect(told.entries == [1, 2, 3, 4] && others.entries == [3, 4])
    }

    @Test func `a follower that joins during the end gets the current element, and then the end`() async {
        for _ in 0..<500 {
            let broadcast = Broadcast<Int>()
            async let end: Void = broadcast.finish()
            var told: [Int] = []
            for await number in broadcast.latest({ 7 }) { told.append(number) }
            await end
            #expect(told.last == 7)
        }
    }
}
