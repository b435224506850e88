@testable import OperationsNetworking
import TestSupport
import Testing

/// The order of deliveries to subscribers.
@Suite(.timeLimit(.minutes(5))) struct BroadcastTests {
    @Test func `one thread delivers at a time, and repeats for later changes`() {
        var delivery = DeliveryState()
        let (first, second, third) = (delivery.begin(), delivery.begin(), delivery.begin())
        #expect(first && !second && !third)
        let (again, rest) = (delivery.endRound(), delivery.endRound())
        #expect(again == .again && rest == .rest)
        let next = delivery.begin()
        #expect(next)
    }

    @Test func `the end follows the current delivery, and nothing follows the end`() {
        var delivery = DeliveryState()
        _ = (delivery.begin(), delivery.begin())
        let isMine = delivery.finish()
        #expect(!isMine)
        let (again, end) = (delivery.endRound(), delivery.endRound())
        #expect(again == .again && end == .end && delivery.phase == .ended)
        let late = delivery.begin()
        #expect(!late)
        var idle = DeliveryState()
        let isAtOnce = idle.finish()
        #expect(isAtOnce && idle.phase == .ended)
    }

    @Test func `concurrent changes are delivered in order, and the newest is last`() async {
        for _ in 0..<20 {
            let broadcast = Broadcast<Int>()
            let (number, received) = (Guarded(0), Journal<Int>())
            broadcast.latest({ number.withLock { $0 } }) { received.append($0) }
            let stream = broadcast.latest { number.withLock { $0 } }
            await withTaskGroup { group in
                for _ in 0..<8 {
                    group.addTask {
                        for _ in 0..<200 {
                            let isLast = number.withLock { number in
                                number += 1
                                return number == 1600
                            }
                            broadcast.sendLatest { number.withLock { $0 } }
                            if isLast { broadcast.finish() }
                        }
                    }
                }
            }
            #expect(
                zip(received.entries, received.entries.dropFirst()).allSatisfy { $0 < $1 }
                    && received.entries.last == 1600)
            var last: Int?
            for await number in stream { last = number }
            #expect(last == 1600)
        }
    }

    @Test func `an unchanged element is not delivered again`() {
        let (broadcast, received, others) = (Broadcast<Int>(), Journal<Int>(), Journal<Int>())
        broadcast.latest({ 1 }) { received.append($0) }
        for number in [1, 2, 2, 3] { broadcast.sendLatest { number } }
        broadcast.latest({ 3 }) { others.append($0) }
        broadcast.sendLatest { 4 }
        #expect(received.entries == [1, 2, 3, 4] && others.entries == [3, 4])
    }

    @Test func `a subscriber that joins during the end gets the current element, and then the end`() async {
        for _ in 0..<500 {
            let broadcast = Broadcast<Int>()
            async let end: Void = broadcast.finish()
            var received: [Int] = []
            for await number in broadcast.latest({ 7 }) { received.append(number) }
            await end
            #expect(received.last == 7)
        }
    }
}
