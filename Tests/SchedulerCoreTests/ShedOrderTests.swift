@testable import SchedulerCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ShedOrderTests {
    @Test func `the oldest member is shed first, or the last one of the lowest priority`() {
        for (rule, expected) in [(ShedOrder.Rule.oldest, [1, 2] as [UInt]), (.lowest, [4, 3])] {
            var order = ShedOrder(rule)
            for (id, lane) in [(1, .normal), (2, .high), (3, .low), (4, .low)] as [(UInt, PriorityLane)] {
                order.waits(id, lane: lane, arrival: UInt64(id))
            }
            #expect(order.take(2, upTo: .normal) { _ in true } == expected)
            #expect(order.count == 2)
        }
    }

    @Test func `if there are too few members, none is shed`() {
        var order = ShedOrder(.lowest)
        order.waits(1, lane: .low, arrival: 1)
        order.waits(2, lane: .high, arrival: 2)
        #expect(order.take(2, upTo: .normal) { _ in true } == nil)
        #expect(order.take(3, upTo: .veryHigh) { _ in true } == nil)
        #expect(order.take(2, upTo: .high) { _ in true } == [1, 2])
    }

    @Test func `a member that may not be shed is skipped, and forgotten until it waits again`() {
        var order = ShedOrder(.oldest)
        for id: UInt in 1...3 { order.waits(id, lane: .normal, arrival: UInt64(id)) }
        #expect(order.take(2, upTo: .normal) { $0 != 1 } == [2, 3])
        #expect(order.count == 0)
        order.waits(1, lane: .normal, arrival: 1)
        #expect(order.take(1, upTo: .normal) { _ in true } == [1])
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(100, least: 30)))
    func `the shed order agrees with sorting`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        let rule = random.chance(50) ? ShedOrder.Rule.oldest : .lowest
        var order = ShedOrder(rule)
        var members: [UInt: (lane: PriorityLane, arrival: UInt64)] = [:]
        for step in 1...300 as ClosedRange<UInt> {
            switch random.below(6) {
            case 0...2:
                let member = (lane: random.pick(PriorityLane.allCases), arrival: UInt64(step))
                members[step] = member
                order.waits(step, lane: member.lane, arrival: member.arrival)
            case 3:
                guard let id = members.keys.sorted().last(where: { _ in random.chance(30) }) else { continue }
                members[id]!.lane = random.pick(PriorityLane.allCases)
                order.waits(id, lane: members[id]!.lane, arrival: members[id]!.arrival)
            case 4:
                guard let id = members.keys.sorted().last(where: { _ in random.chance(30) }) else { continue }
                order.leaves(id)
                let member = members.removeValue(forKey: id)!
                if random.chance(50) {
                    members[id] = member
                    order.waits(id, lane: member.lane, arrival: member.arrival)
                }
            default:
                let (count, highest) = (1 + random.below(3), random.pick(PriorityLane.allCases))
                let sorted = members.filter { rule == .oldest || $0.value.lane <= highest }.sorted { a, b in
                    rule == .oldest || a.value.lane == b.value.lane
                        ? (a.value.arrival < b.value.arrival) == (rule == .oldest) : a.value.lane < b.value.lane
                }
                let expected = sorted.count >= count ? sorted.prefix(count).map(\.key) : nil
                let taken = order.take(count, upTo: highest) { _ in true }
                if taken != expected {
                    Issue.record("seed \(seed), step \(step): \(taken ?? []), not \(expected ?? [])")
                }
                for id in taken ?? [] { members[id] = nil }
            }
            if order.count != members.count { Issue.record("seed \(seed), step \(step): \(order.count)") }
        }
    }

    @Test func `each shedding looks at one member, regardless of the number of waiting ones`() {
        for count in [1000, 2000] {
            var (order, looks) = (ShedOrder(.lowest), 0)
            for id in 1...UInt(count) { order.waits(id, lane: .normal, arrival: UInt64(id)) }
            for id in 1...UInt(count) {
                let victim = order.take(1, upTo: .normal) { _ in
                    looks += 1
                    return true
                }
                #expect(victim?.count == 1)
                order.waits(UInt(count) + id, lane: .normal, arrival: UInt64(count) + UInt64(id))
            }
            #expect(looks == count)
        }
    }

    @Test func `members that leave and wait again in turns leave few entries behind`() {
        var order = ShedOrder(.lowest)
        for _ in 0..<100 {
            for id in 1...UInt(100) {
                order.leaves(id)
                order.waits(id, lane: .normal, arrival: UInt64(id))
            }
        }
        #expect(order.count == 100 && order.entryCount <= 2 * 100 + 64)
    }
}
