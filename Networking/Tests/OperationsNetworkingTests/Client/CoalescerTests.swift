@testable import OperationsNetworking
import TestSupport
import Testing

@Suite struct CoalescerTests {
    private typealias Change = Coalescer<String>.Change

    private func demand(_ priority: Int, paused isPaused: Bool = false) -> TransferDemand {
        TransferDemand(priority: priority, isPaused: isPaused)
    }

    @Test func `identical requests share one transfer, and the last waiter to leave stops it`() {
        var coalescer = Coalescer<String>()
        let (first, begin) = coalescer.join("a", demand(0))
        let (second, joined) = coalescer.join("a", demand(4))
        let (other, beginOther) = coalescer.join("b", demand(0))
        #expect(begin == .begin(transfer: first) && beginOther == .begin(transfer: other))
        #expect(joined == .joined(Change(transfer: first, old: demand(0), new: demand(4))))
        #expect(coalescer.count == 2 && coalescer.transfer(of: "a") == first)
        let continues = coalescer.leave(second)
        #expect(continues == .continues(Change(transfer: first, old: demand(4), new: demand(0))))
        let (again, stop) = (coalescer.leave(second), coalescer.leave(first))
        #expect(again == .hadLeft && stop == .stop(transfer: first))
        let (third, next) = coalescer.join("a", demand(0))
        #expect(next == .begin(transfer: third))
    }

    @Test func `a request after the end begins a new transfer`() {
        var coalescer = Coalescer<String>()
        let (first, _) = coalescer.join("a", demand(0))
        coalescer.ended(first, of: "a")
        let (left, changed) = (coalescer.leave(first), coalescer.set(demand(1), of: first))
        #expect(left == .hadLeft && changed == nil && coalescer.count == 0)
        let (second, joining) = coalescer.join("a", demand(0))
        #expect(joining == .begin(transfer: second))
        // A late notification of the end of the first transfer.
        coalescer.ended(first, of: "a")
        let stop = coalescer.leave(second)
        #expect(stop == .stop(transfer: second))
    }

    @Test func `a transfer is paused while all its waiters are paused`() {
        var coalescer = Coalescer<String>()
        let (first, _) = coalescer.join("a", demand(0))
        let (second, _) = coalescer.join("a", demand(0))
        func isPaused() -> Bool? { coalescer.demand(of: "a")?.isPaused }
        _ = coalescer.set(demand(0, paused: true), of: first)
        #expect(isPaused() == false)
        _ = coalescer.leave(second)
        #expect(isPaused() == true)
        let late = coalescer.set(demand(0), of: second)
        #expect(late == nil && isPaused() == true)
        let (third, joined) = coalescer.join("a", demand(0))
        #expect(joined == .joined(Change(transfer: first, old: demand(0, paused: true), new: demand(0))))
        _ = coalescer.set(demand(0, paused: true), of: third)
        _ = coalescer.leave(first)
        #expect(isPaused() == true)
        _ = coalescer.set(demand(0), of: third)
        #expect(isPaused() == false && coalescer.demand(of: "b") == nil)
    }

    @Test func `a waiter that joins paused does not resume a paused transfer`() {
        var coalescer = Coalescer<String>()
        let (first, _) = coalescer.join("a", demand(0, paused: true))
        #expect(coalescer.demand(of: "a") == demand(0, paused: true))
        let (_, joined) = coalescer.join("a", demand(1, paused: true))
        #expect(
            joined == .joined(Change(transfer: first, old: demand(0, paused: true), new: demand(1, paused: true))))
    }

    @Test(arguments: 0..<UInt64(50)) func `the coalescer agrees with a naive model`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var coalescer = Coalescer<Int>()
        var model: [(waiter: Int, key: Int, transfer: Int, demand: TransferDemand)] = []
        func combined(_ transfer: Int) -> TransferDemand {
            let demands = model.filter { $0.transfer == transfer }.map(\.demand)
            return TransferDemand(
                priority: demands.map(\.priority).max()!, isPaused: demands.allSatisfy { $0.isPaused })
        }
        func change(_ transfer: Int, from old: TransferDemand) -> Coalescer<Int>.Change {
            Coalescer<Int>.Change(transfer: transfer, old: old, new: combined(transfer))
        }
        for _ in 0..<300 {
            let key = random.below(3)
            let new = TransferDemand(priority: random.below(5), isPaused: random.below(3) > 0)
            switch random.below(6) {
            case 0, 1:
                let known = model.first { $0.key == key }?.transfer
                let old = known.map(combined)
                let (waiter, joining) = coalescer.join(key, new)
                model.append((waiter, key, known ?? waiter, new))
                if let known, let old {
                    #expect(joining == .joined(change(known, from: old)))
                } else {
                    #expect(joining == .begin(transfer: waiter))
                }
            case 2:
                guard !model.isEmpty else { continue }
                let index = random.below(model.count)
                let (gone, old) = (model[index], combined(model[index].transfer))
                model.remove(at: index)
                let isLast = !model.contains { $0.transfer == gone.transfer }
                let leaving = coalescer.leave(gone.waiter)
                let expected: Coalescer<Int>.Leaving =
                    isLast ? .stop(transfer: gone.transfer) : .continues(change(gone.transfer, from: old))
                #expect(leaving == expected)
            case 3, 4:
                guard !model.isEmpty else { continue }
                let index = random.below(model.count)
                let old = combined(model[index].transfer)
                model[index].demand = new
                let changed = coalescer.set(new, of: model[index].waiter)
                #expect(changed == change(model[index].transfer, from: old))
            default:
                guard let some = model.first(where: { $0.key == key }) else { continue }
                coalescer.ended(some.transfer, of: key)
                model.removeAll { $0.transfer == some.transfer }
            }
            #expect(coalescer.demand(of: key) == model.first { $0.key == key }.map { combined($0.transfer) })
        }
        #expect(coalescer.count == Set(model.map(\.transfer)).count)
    }
}
