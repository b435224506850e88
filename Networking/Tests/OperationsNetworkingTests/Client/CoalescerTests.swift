@testable import OperationsNetworking
import TestSupport
import Testing

@Suite struct CoalescerTests {
    @Test func `identical requests share one transfer, and the last waiter to leave stops it`() {
        var coalescer = Coalescer<String, Int>()
        let (first, begin) = coalescer.join("a", priority: 0)
        let (second, joined) = coalescer.join("a", priority: 4)
        let (_, other) = coalescer.join("b", priority: 0)
        #expect(begin == .begin(transfer: first) && joined == .joined(transfer: first, raised: 4))
        #expect(other != .joined(transfer: first, raised: nil) && coalescer.count == 2)
        #expect(coalescer.leave(second) == .goesOn(transfer: first, urgency: 0))
        #expect(coalescer.leave(second) == .needless)
        #expect(coalescer.leave(first) == .stop(transfer: first))
        #expect(coalescer.join("a", priority: 0).1 != .joined(transfer: first, raised: nil))
    }

    @Test func `a request after the end begins a new transfer`() {
        var coalescer = Coalescer<String, Int>()
        let (first, _) = coalescer.join("a", priority: 0)
        coalescer.ended(first, of: "a")
        #expect(coalescer.leave(first) == .needless && coalescer.count == 0)
        let (second, joining) = coalescer.join("a", priority: 0)
        #expect(joining == .begin(transfer: second))
        // A late notification of the end of the first transfer.
        coalescer.ended(first, of: "a")
        #expect(coalescer.leave(second) == .stop(transfer: second))
    }

    @Test func `a transfer pauses when all remaining waiters are paused`() {
        var coalescer = Coalescer<String, Int>()
        let (first, _) = coalescer.join("a", priority: 0)
        let (second, _) = coalescer.join("a", priority: 0)
        coalescer.setPaused(true, of: first)
        #expect(!coalescer.isPaused("a"))
        _ = coalescer.leave(second)
        #expect(coalescer.isPaused("a"))
        coalescer.setPaused(false, of: second)
        #expect(coalescer.isPaused("a"))
        let (third, _) = coalescer.join("a", priority: 0)
        #expect(!coalescer.isPaused("a"))
        coalescer.setPaused(true, of: third)
        _ = coalescer.leave(first)
        #expect(coalescer.isPaused("a"))
        coalescer.setPaused(false, of: third)
        #expect(!coalescer.isPaused("a") && !coalescer.isPaused("b"))
    }

    @Test(arguments: 0..<UInt64(50)) func `the coalescer agrees with a naive model`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var coalescer = Coalescer<Int, Int>()
        var model: [(waiter: Int, key: Int, transfer: Int, priority: Int, isPaused: Bool)] = []
        for _ in 0..<300 {
            let key = random.below(3)
            switch random.below(6) {
            case 0, 1:
                let priority = random.below(5)
                let group = model.filter { $0.key == key }
                let (waiter, joining) = coalescer.join(key, priority: priority)
                if let transfer = group.first?.transfer {
                    let isRaised = priority > group.map(\.priority).max()!
                    #expect(joining == .joined(transfer: transfer, raised: isRaised ? priority : nil))
                    model.append((waiter, key, transfer, priority, false))
                } else {
                    #expect(joining == .begin(transfer: waiter))
                    model.append((waiter, key, waiter, priority, false))
                }
            case 2:
                guard !model.isEmpty else { continue }
                let gone = model.remove(at: random.below(model.count))
                let left = model.filter { $0.transfer == gone.transfer }
                #expect(
                    coalescer.leave(gone.waiter)
                        == (left.isEmpty
                            ? .stop(transfer: gone.transfer)
                            : .goesOn(transfer: gone.transfer, urgency: left.map(\.priority).max()!)))
            case 3, 4:
                guard !model.isEmpty else { continue }
                let (index, isPaused) = (random.below(model.count), random.below(3) > 0)
                coalescer.setPaused(isPaused, of: model[index].waiter)
                model[index].isPaused = isPaused
            default:
                guard let some = model.first(where: { $0.key == key }) else { continue }
                coalescer.ended(some.transfer, of: key)
                model.removeAll { $0.transfer == some.transfer }
            }
            let group = model.filter { $0.key == key }
            let canAllWait = !group.isEmpty && group.allSatisfy { $0.isPaused }
            #expect(coalescer.isPaused(key) == canAllWait)
        }
        #expect(coalescer.count == Set(model.map(\.transfer)).count)
    }
}
