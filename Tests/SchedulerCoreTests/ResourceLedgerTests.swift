@testable import SchedulerCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct ResourceLedgerTests {
    private typealias Ledger = ResourceLedger<Int>
    private typealias Need = Ledger.Need

    private func expectGranted(
        _ ledger: inout Ledger, _ claimant: Int, _ needs: [Need], _ location: SourceLocation = #_sourceLocation
    ) {
        let answer = ledger.request(claimant, needs)
        #expect(answer == .init(isGranted: true), sourceLocation: location)
    }

    private func expectWaits(
        _ ledger: inout Ledger, _ claimant: Int, _ needs: [Need], _ location: SourceLocation = #_sourceLocation
    ) {
        let answer = ledger.request(claimant, needs)
        #expect(answer == .init(isGranted: false), sourceLocation: location)
    }

    private func expect(_ offered: [Int], _ expected: [Int], _ location: SourceLocation = #_sourceLocation) {
        #expect(offered == expected, sourceLocation: location)
    }

    @Test func `a claimant that has withdrawn is not a holder`() {
        var ledger = ResourceLedger<String>()
        let resource = ledger.addResource(capacity: 1)
        for claimant in ["a", "b"] {
            let answer = ledger.request(claimant, [.init(1, of: resource)])
            #expect(answer.isGranted && ledger.soleHolder(of: resource) == claimant)
            _ = ledger.withdraw(claimant)
            #expect(ledger.soleHolder(of: resource) == nil)
        }
    }

    @Test func `only a claimant that has requested and holds nothing waits`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectWaits(&ledger, 2, [Need(1, of: memory)])
        #expect([1, 2, 3].map { ledger.isWaiting($0) } == [false, true, false])
        #expect(ledger.entryCount(of: memory) == 2)
        let lane = Ledger.Lane(queue: 1)
        #expect(!ledger.request(3, [Need(1, of: memory)], lane: lane, givesWay: true).isGranted)
        #expect(ledger.entryCount(of: memory) == 4, "one in a line and one among the lanes for each")
    }

    @Test func `a claimant that no longer needs a resource blocks no other in its line`() {
        var ledger = Ledger()
        let (memory, name) = (ledger.addResource(capacity: 1), ledger.addResource(capacity: 1))
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectGranted(&ledger, 2, [Need(1, of: name)])
        expectWaits(&ledger, 3, [Need(1, of: memory), Need(1, of: name)])
        expectWaits(&ledger, 4, [Need(1, of: memory)])
        expectWaits(&ledger, 3, [Need(1, of: name)])
        expect(ledger.withdraw(1), [4])
    }

    @Test func `in a lane that gives way the first claimant comes first`() {
        var ledger = Ledger()
        let (memory, lane) = (ledger.addResource(capacity: 2), Ledger.Lane(queue: 1))
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        #expect(!ledger.request(2, [Need(2, of: memory)], lane: lane, givesWay: true).isGranted)
        #expect(!ledger.request(3, [Need(1, of: memory)], lane: lane).isGranted)
        expectGranted(&ledger, 4, [Need(1, of: memory)])
    }

    @Test func `claimants that have left leave no entries, although one waits all the time`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectWaits(&ledger, 2, [Need(1, of: memory)])
        for claimant in 3..<1000 {
            expectWaits(&ledger, claimant, [Need(1, of: memory)])
            expect(ledger.withdraw(claimant), [])
        }
        #expect(ledger.entryCount(of: memory) < 100)
        // The removal of outdated entries keeps the others.
        expect(ledger.withdraw(1), [2])
    }

    @Test func `a claimant that withdraws and requests again has a new place`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        for claimant in [2, 3] { expectWaits(&ledger, claimant, [Need(1, of: memory)]) }
        expect(ledger.withdraw(2), [])
        expectWaits(&ledger, 2, [Need(1, of: memory)])
        expect(ledger.withdraw(1), [3])
        expect(ledger.withdraw(3), [2])
    }

    @Test func `the predecessor is that of the resource in question, not of the first need`() {
        var ledger = Ledger()
        let (memory, disk) = (ledger.addResource(capacity: 2), ledger.addResource(capacity: 1))
        expectGranted(&ledger, 1, [Need(2, of: memory)])
        expectWaits(&ledger, 2, [Need(1, of: memory), Need(1, of: disk)])
        expectWaits(&ledger, 3, [Need(2, of: memory), Need(1, of: disk)])
        #expect(ledger.predecessor(of: 3, for: disk) == (2, []))
        #expect(ledger.predecessor(of: 3, for: memory) == (nil, []))
        expect(ledger.stepOut(3), [3])
        #expect(ledger.predecessor(of: 3, for: disk) == (nil, []), "it is in no line")
    }

    @Test(arguments: [0, 1, 2]) func `a claimant whose need exceeds a lowered capacity blocks no other resource`(
        ahead: Int
    ) {
        var ledger = Ledger()
        let (memory, name) = (ledger.addResource(capacity: 3), ledger.addResource(capacity: 1))
        expectGranted(&ledger, 1, [Need(3, of: memory)])
        // Others may stand before it in the line of the resource whose capacity is lowered.
        for claimant in 0..<ahead { expectWaits(&ledger, 10 + claimant, [Need(1, of: memory)]) }
        expectWaits(&ledger, 2, [Need(3, of: memory), Need(1, of: name)])
        expectWaits(&ledger, 3, [Need(1, of: name)])
        expect(ledger.setCapacity(2, of: memory), [3])
        expectGranted(&ledger, 3, [Need(1, of: name)])
        // It has kept its seniority.
        expectWaits(&ledger, 4, [Need(1, of: name)])
        expect(ledger.setCapacity(3, of: memory), [])
        expect(ledger.withdraw(1), (0..<min(ahead, 3)).map { 10 + $0 })
        expect(ledger.withdraw(3), ahead == 0 ? [2] : [])
    }

    @Test func `the holders of a resource are listed by seniority`() {
        var ledger = Ledger()
        let (memory, disk) = (ledger.addResource(capacity: 3), ledger.addResource(capacity: 9))
        for claimant in [5, 3, 4] { expectGranted(&ledger, claimant, [Need(1, of: memory), Need(2, of: disk)]) }
        expectWaits(&ledger, 1, [Need(1, of: memory)])
        #expect(ledger.holders(of: memory) == [5, 3, 4] && ledger.holders(of: disk) == [5, 3, 4])
        expect(ledger.withdraw(3), [1])
        #expect(ledger.holders(of: memory) == [5, 4])
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        #expect(ledger.holders(of: memory) == [5, 4, 1] && ledger.holders(of: disk) == [5, 4])
    }

    @Test func `a free resource is granted at once, an occupied one when it is returned`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 8)
        expectGranted(&ledger, 1, [Need(5, of: memory)])
        expectGranted(&ledger, 2, [Need(3, of: memory)])
        expectWaits(&ledger, 3, [Need(1, of: memory)])
        #expect(ledger.usage(of: memory) == .init(capacity: 8, inUse: 8, waiting: 1))
        expect(ledger.withdraw(2), [3])
        expectGranted(&ledger, 3, [Need(1, of: memory)])
        #expect(ledger.usage(of: memory) == .init(capacity: 8, inUse: 6, waiting: 0))
    }

    @Test func `a large need is not overtaken by small ones that come later`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 8)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectWaits(&ledger, 2, [Need(8, of: memory)])
        expectWaits(&ledger, 3, [Need(1, of: memory)])
        expect(ledger.withdraw(1), [2])
        expectWaits(&ledger, 4, [Need(1, of: memory)])
        expectGranted(&ledger, 2, [Need(8, of: memory)])
        expect(ledger.withdraw(2), [3, 4])
    }

    @Test func `an offer that lapses goes to the next lane, and the first claimant keeps its place`() {
        var ledger = Ledger()
        let lock = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: lock)])
        for claimant in 2...5 {
            let answer = ledger.request(claimant, [Need(1, of: lock)], lane: .init(queue: UInt(claimant % 2)))
            #expect(answer == .init(isGranted: false))
        }
        expect(ledger.withdraw(1), [2])
        expect(ledger.lapse(2), [3])
        expect(ledger.lapse(2), [])
        #expect(ledger.request(3, [Need(1, of: lock)], lane: .init(queue: 1)).isGranted)
        #expect(!ledger.request(2, [Need(1, of: lock)], lane: .init(queue: 0)).isGranted)
        expect(ledger.withdraw(3), [2])
    }

    /// The claimants 1 to 4 of one lane wait for a unit; the offer to the first has lapsed.
    private func closed() -> (Ledger, lock: Int, Ledger.Lane) {
        var ledger = Ledger()
        let (lock, lane) = (ledger.addResource(capacity: 1), Ledger.Lane(queue: 1))
        expectGranted(&ledger, 0, [Need(1, of: lock)])
        for claimant in 1...4 { _ = ledger.request(claimant, [Need(1, of: lock)], lane: lane) }
        expect(ledger.withdraw(0), [1])
        expect(ledger.lapse(1), [])
        return (ledger, lock, lane)
    }

    @Test func `a lane whose offer has lapsed gets no other, until its claimant comes or leaves`() {
        do {
            var (ledger, lock, lane) = closed()
            #expect(ledger.predecessor(of: 2, for: lock).0 == 1)
            #expect(ledger.request(1, [Need(1, of: lock)], lane: lane) == .init(isGranted: true))
            expect(ledger.withdraw(1), [2])
        }
        do {
            var (ledger, _, _) = closed()
            expect(ledger.withdraw(1), [2])
        }
        do {
            var (ledger, _, _) = closed()
            expect(ledger.stepOut(1), [2])
        }
        do {
            var (ledger, lock, lane) = closed()
            expect(ledger.setGivesWay(lane, true, change: 1), [])
            // Its queue has room again. The claimant comes soon, and the next one must not overtake it.
            expect(ledger.setGivesWay(lane, false, change: 2), [])
            #expect(ledger.request(1, [Need(1, of: lock)], lane: lane) == .init(isGranted: true))
        }
    }

    @Test func `a holder that returns its units and comes again keeps its place in its lane`() {
        var ledger = Ledger()
        let (lock, lane) = (ledger.addResource(capacity: 1), Ledger.Lane(queue: 1))
        for claimant in 1...2 { _ = ledger.request(claimant, [Need(1, of: lock)], lane: lane) }
        expect(ledger.giveBack(1), [])
        #expect(ledger.usage(of: lock).inUse == 0)
        #expect(ledger.request(1, [Need(1, of: lock)], lane: lane) == .init(isGranted: true))
        expect(ledger.withdraw(1), [2])
    }

    @Test func `a lane is closed until each claimant whose offer has lapsed comes or leaves`() {
        var ledger = Ledger()
        let (lock, lane) = (ledger.addResource(capacity: 2), Ledger.Lane(queue: 1))
        expectGranted(&ledger, 0, [Need(2, of: lock)])
        for claimant in 1...4 { _ = ledger.request(claimant, [Need(1, of: lock)], lane: lane) }
        expect(ledger.withdraw(0), [1, 2])
        for claimant in [2, 1] { expect(ledger.lapse(claimant), []) }
        #expect(ledger.predecessor(of: 3, for: lock).0 == 1)
        #expect(ledger.request(2, [Need(1, of: lock)], lane: lane) == .init(isGranted: true))
        expect(ledger.withdraw(2), [])
        #expect(ledger.request(1, [Need(1, of: lock)], lane: lane) == .init(isGranted: true, offered: [3]))
        // Without a waiting claimant, the lane is closed as well, and is forgotten when it opens.
        expect(ledger.lapse(3), [])
        expect(ledger.withdraw(4), [])
        #expect(ledger.laneCount == 1)
        expect(ledger.withdraw(3), [])
        #expect(ledger.laneCount == 0)
    }

    @Test func `a closed lane blocks no other lane, and keeps its seniority when it opens`() {
        var (ledger, lock, lane) = closed()
        #expect(ledger.request(5, [Need(1, of: lock)], lane: .init(queue: 2)).isGranted)
        #expect(!ledger.request(6, [Need(1, of: lock)], lane: .init(queue: 2)).isGranted)
        #expect(!ledger.request(1, [Need(1, of: lock)], lane: lane).isGranted)
        expect(ledger.withdraw(5), [1])
    }

    @Test func `two resources are granted together or not at all, regardless of their order`() {
        var ledger = Ledger()
        let left = ledger.addResource(capacity: 1)
        let right = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: left)])
        expectWaits(&ledger, 2, [Need(1, of: left), Need(1, of: right)])
        #expect(ledger.usage(of: right).inUse == 0)
        expectWaits(&ledger, 3, [Need(1, of: right), Need(1, of: left)])
        expect(ledger.withdraw(1), [2])
        expect(ledger.withdraw(2), [3])
        expect(ledger.withdraw(3), [])
    }

    @Test func `a claimant that needs more than the capacity blocks no other, and is served when the capacity rises`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 4)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectWaits(&ledger, 2, [Need(4, of: memory)])
        expectWaits(&ledger, 3, [Need(2, of: memory)])
        expect(ledger.setCapacity(3, of: memory), [3])
        #expect(ledger.isWaiting(2))
        expect(ledger.withdraw(1), [])
        expect(ledger.setCapacity(8, of: memory), [2])
        expect(ledger.withdraw(3), [])
        expect(ledger.withdraw(2), [])
        #expect(ledger.usage(of: memory) == .init(capacity: 8, inUse: 0, waiting: 0))
    }

    @Test func `parked claimants leave no entries when the capacity rises, or when they leave`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 4)
        expectGranted(&ledger, 1, [Need(4, of: memory)])
        for claimant in [2, 3] { expectWaits(&ledger, claimant, [Need(4, of: memory)]) }
        expect(ledger.setCapacity(3, of: memory), [])
        expect(ledger.withdraw(2), [])
        expect(ledger.setCapacity(4, of: memory), [])
        expect(ledger.withdraw(1), [3])
        expect(ledger.withdraw(3), [])
        #expect(ledger.entryCount(of: memory) == 0)
    }

    @Test func `a claimant that is parked in one line does not block the other lines`() {
        var ledger = Ledger()
        let small = ledger.addResource(capacity: 1)
        let large = ledger.addResource(capacity: 5)
        expectGranted(&ledger, 1, [Need(1, of: large)])
        expectWaits(&ledger, 2, [Need(1, of: small), Need(5, of: large)])
        expectWaits(&ledger, 3, [Need(1, of: small)])
        expect(ledger.setCapacity(3, of: large), [3])
    }

    @Test func `a claimant that steps out blocks no other, and keeps its place`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 4)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectWaits(&ledger, 2, [Need(4, of: memory)])
        expectWaits(&ledger, 3, [Need(1, of: memory)])
        // The claimant itself is notified, because it may have requested since.
        expect(ledger.stepOut(2), [3, 2])
        expect(ledger.stepOut(2), [])
        expect(ledger.stepOut(1), [])
        expectWaits(&ledger, 2, [Need(4, of: memory)])
        // The claimant is senior, and requests again before the other one comes for the offer.
        expectWaits(&ledger, 3, [Need(1, of: memory)])
        expect(ledger.withdraw(1), [2])
        expect(ledger.withdraw(2), [3])
        // A claimant whose need exceeds the capacity is in no line, and is notified nevertheless.
        expectWaits(&ledger, 4, [Need(4, of: memory)])
        expect(ledger.setCapacity(3, of: memory), [])
        expect(ledger.stepOut(4), [4])
        #expect(ledger.usage(of: memory) == .init(capacity: 3, inUse: 0, waiting: 0))
    }

    @Test func `a lane that gives way is overtaken, keeps its seniority, and is served when no other lane is`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 4)
        let (own, others) = (Ledger.Lane(queue: 1), Ledger.Lane(queue: 2))
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        for claimant in [2, 3] { #expect(!ledger.request(claimant, [Need(4, of: memory)], lane: own).isGranted) }
        for claimant in [4, 5] { #expect(!ledger.request(claimant, [Need(1, of: memory)], lane: others).isGranted) }
        #expect(ledger.predecessor(of: 5, for: memory) == (2, []))
        expect(ledger.setGivesWay(own, true, change: 2), [4, 5])
        #expect(ledger.request(4, [Need(1, of: memory)], lane: others).isGranted)
        // Late, and of an unknown lane.
        expect(ledger.setGivesWay(own, false, change: 1), [])
        expect(ledger.setGivesWay(Ledger.Lane(queue: 7), true, change: 1), [])
        #expect(ledger.request(6, [Need(1, of: memory)], lane: others).isGranted)
        // The lane has its place again.
        expect(ledger.setGivesWay(own, false, change: 3), [])
        #expect(!ledger.request(7, [Need(1, of: memory)], lane: others).isGranted)
        expect(ledger.withdraw(1), [])
        expect(ledger.withdraw(4), [])
        expect(ledger.withdraw(5), [])
        expect(ledger.withdraw(6), [2])
        // A lane that gives way is served as well, in its own order.
        expect(ledger.setGivesWay(own, true, change: 4), [])
        #expect(ledger.request(2, [Need(4, of: memory)], lane: own).isGranted)
        expect(ledger.withdraw(2), [3])
        expect(ledger.withdraw(3), [7])
    }

    @Test func `very many changes of a lane leave no entries`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 2)
        let (own, others) = (Ledger.Lane(queue: 1), Ledger.Lane(queue: 2))
        expectGranted(&ledger, 1, [Need(2, of: memory)])
        _ = ledger.request(2, [Need(2, of: memory)], lane: own)
        _ = ledger.request(3, [Need(1, of: memory)], lane: others)
        for change in 1...UInt64(Stress.rounds(100_000, least: 2000)) {
            expect(ledger.setGivesWay(own, change % 2 == 1, change: change), [])
            // The first of the lane changes all the time.
            expect(ledger.stepOut(2), [2])
            _ = ledger.request(2, [Need(2, of: memory)], lane: own)
        }
        #expect(ledger.entryCount(of: memory) < 500)
        expect(ledger.withdraw(1), [2])
        expect(ledger.withdraw(2), [3])
        expect(ledger.withdraw(3), [])
        #expect(ledger.laneCount == 0)
    }

    @Test func `changed needs replace the earlier ones`() {
        var ledger = Ledger()
        let first = ledger.addResource(capacity: 1)
        let second = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: first)])
        expectGranted(&ledger, 2, [Need(1, of: second)])
        expectWaits(&ledger, 3, [Need(1, of: first)])
        expectWaits(&ledger, 3, [Need(1, of: first), Need(1, of: second)])
        expect(ledger.withdraw(1), [])
        expect(ledger.withdraw(2), [3])
        expectGranted(&ledger, 3, [Need(1, of: first), Need(1, of: second)])
    }

    @Test func `the end of an offer has no effect on a claimant without one`() {
        var ledger = Ledger()
        let memory = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: memory)])
        expectWaits(&ledger, 2, [Need(1, of: memory)])
        for claimant in [1, 2, 3] { expect(ledger.lapse(claimant), []) }
        for claimant in [2, 3] { expect(ledger.giveBack(claimant), []) }
        expect(ledger.withdraw(1), [2])
        expect(ledger.giveBack(2), [])
        for _ in 1...2 { expect(ledger.lapse(2), []) }
        expectGranted(&ledger, 4, [Need(1, of: memory)])
        expectWaits(&ledger, 5, [Need(1, of: memory)])
    }

    @Test func `very many changes of needs leave few entries in a line`() {
        var ledger = Ledger()
        let first = ledger.addResource(capacity: 1)
        let second = ledger.addResource(capacity: 1)
        expectGranted(&ledger, 1, [Need(1, of: first)])
        expectGranted(&ledger, 2, [Need(1, of: second)])
        expectWaits(&ledger, 3, [Need(1, of: first)])
        for _ in 0..<1000 {
            expectWaits(&ledger, 4, [Need(1, of: first)])
            expectWaits(&ledger, 4, [Need(1, of: second)])
        }
        #expect(ledger.entryCount(of: first) < 200)
        expect(ledger.withdraw(1), [3])
        expect(ledger.withdraw(2), [4])
    }

    @Test(.tags(.slow), arguments: 0..<UInt64(Stress.rounds(200, small: 6)))
    func `no claimant gets too much or is overtaken, and every claimant is served`(seed: UInt64) {
        var walk = LedgerWalk(seed: seed)
        for step in 0..<400 {
            walk.happen()
            if let mistake = walk.mistake {
                Issue.record("seed \(seed), step \(step): \(mistake)")
                return
            }
        }
        if let mistake = walk.drain() { Issue.record("seed \(seed): \(mistake)") }
    }
}

/// Random events, and the conditions that must hold after each.
private struct LedgerWalk {
    private var generator: SeededRandom
    private var ledger = ResourceLedger<Int>()
    private let resources: [Int]
    private var capacities: [Int]
    private var needs: [Int: [ResourceLedger<Int>.Need]] = [:]
    private var order: [Int] = []
    private var holding: Set<Int> = []
    private var offered: Set<Int> = []
    private var lapsed: Set<Int> = []
    /// The claimants of a lane have the same remainder.
    private var givesWay = [false, false, false]
    /// The claimants that have closed a lane.
    private var closers: [Set<Int>] = [[], [], []]
    private var changes: UInt64 = 0
    private var last = 0
    private(set) var mistake: String?

    init(seed: UInt64) {
        generator = SeededRandom(seed: seed)
        capacities = [1, 3, 8]
        resources = [1, 3, 8].map { _ in 0 }.indices.map { $0 }
        for capacity in capacities { _ = ledger.addResource(capacity: capacity) }
    }

    mutating func happen() {
        switch generator.below(10) {
        case 0...3: requestNew()
        case 4...5: if let claimant = pick(offered) { request(claimant) }
        case 6: if let claimant = pick(lapsed) { request(claimant) }
        case 7:
            if generator.chance(40), let claimant = pick(offered) { close(claimant, ledger.lapse(claimant)) }
            if generator.chance(10), let claimant = pick(holding) { close(claimant, ledger.giveBack(claimant)) }
            if generator.chance(20) { setCapacity() }
            if generator.chance(40) { changeWay(of: generator.below(3), to: generator.chance(50)) }
            if generator.chance(30), let claimant = pick(Set(order)) { stepOut(claimant) }
        case 8: if let claimant = pick(holding) { withdraw(claimant) }
        default: if let claimant = pick(Set(order)) { withdraw(claimant) }
        }
        check()
    }

    /// Serves all remaining claimants.
    mutating func drain() -> String? {
        for (resource, capacity) in [1, 3, 8].enumerated() {
            capacities[resource] = capacity
            offered.formUnion(ledger.setCapacity(capacity, of: resource))
        }
        for lane in 0..<3 where generator.chance(50) { changeWay(of: lane, to: generator.chance(50)) }
        for _ in 0..<10_000 where !order.isEmpty {
            if let claimant = (offered.union(lapsed)).min() { request(claimant) }
            if let claimant = holding.min() { withdraw(claimant) }
            check()
            if let mistake { return mistake }
        }
        return order.isEmpty ? nil : "\(order.count) are never served"
    }

    private mutating func pick(_ claimants: Set<Int>) -> Int? {
        claimants.isEmpty ? nil : generator.pick(claimants.sorted())
    }

    private mutating func requestNew() {
        last += 1
        var own: [ResourceLedger<Int>.Need] = []
        for resource in resources.shuffled(using: &generator) where own.isEmpty || generator.chance(40) {
            own.append(.init(1 + generator.below(capacities[resource]), of: resource))
        }
        needs[last] = own
        order.append(last)
        request(last)
    }

    private mutating func request(_ claimant: Int) {
        offered.remove(claimant)
        lapsed.remove(claimant)
        open(claimant)
        let answer = ledger.request(
            claimant, needs[claimant]!, lane: .init(queue: UInt(claimant % 3)), givesWay: givesWay[claimant % 3])
        if answer.isGranted {
            holding.insert(claimant)
            if !order.contains(claimant) { mistake = "\(claimant) is unknown" }
        }
        offered.formUnion(answer.offered)
    }

    /// The claimant has lost its offer or returned its units, and requests again later.
    private mutating func close(_ claimant: Int, _ newlyOffered: [Int]) {
        // The ledger knows no lane that is open and has no waiting claimants.
        if !closers[claimant % 3].isEmpty || waiting.contains(where: { $0 % 3 == claimant % 3 }) {
            closers[claimant % 3].insert(claimant)
        }
        offered.remove(claimant)
        holding.remove(claimant)
        lapsed.insert(claimant)
        offered.formUnion(newlyOffered)
    }

    private mutating func open(_ claimant: Int) { closers[claimant % 3].remove(claimant) }

    private var waiting: [Int] {
        order.filter { !holding.contains($0) && !offered.contains($0) && !lapsed.contains($0) }
    }

    /// The lane may be unknown to the ledger, which then learns of the change from the next request.
    private mutating func changeWay(of lane: Int, to new: Bool) {
        changes += 1
        givesWay[lane] = new
        offered.formUnion(ledger.setGivesWay(.init(queue: UInt(lane)), new, change: changes))
    }

    /// The claimant requests again only if it is notified.
    private mutating func stepOut(_ claimant: Int) {
        let stoodInLine = !holding.contains(claimant) && !offered.contains(claimant) && !lapsed.contains(claimant)
        if offered.remove(claimant) != nil { lapsed.insert(claimant) }
        open(claimant)
        var notified = Set(ledger.stepOut(claimant))
        if notified.remove(claimant) != nil { lapsed.insert(claimant) }
        if stoodInLine, !lapsed.contains(claimant) { mistake = "\(claimant) is forgotten" }
        offered.formUnion(notified)
    }

    private mutating func setCapacity() {
        let resource = generator.pick(resources)
        capacities[resource] =
            capacities[resource] > 1 && generator.chance(50) ? capacities[resource] - 1 : [1, 3, 8][resource]
        offered.formUnion(ledger.setCapacity(capacities[resource], of: resource))
    }

    private mutating func withdraw(_ claimant: Int) {
        holding.remove(claimant)
        offered.remove(claimant)
        lapsed.remove(claimant)
        open(claimant)
        order.removeAll { $0 == claimant }
        offered.formUnion(ledger.withdraw(claimant))
    }

    private mutating func check() {
        for resource in resources {
            let inUse = units(holding, of: resource)
            let promised = inUse + units(offered, of: resource)
            let exceeds = promised > max(capacities[resource], [1, 3, 8][resource])
            if exceeds { mistake = "\(promised) units of \(capacities[resource]) given" }
            if ledger.usage(of: resource).inUse != inUse {
                mistake = "in use: \(ledger.usage(of: resource)), not \(inUse)"
            }
        }
        // A claimant that needs more than the capacity blocks no other.
        let open = waiting.filter { closers[$0 % 3].isEmpty }
        let servable = open.filter { needs[$0]!.allSatisfy { $0.units <= capacities[$0.resource] } }
        // Holders and offers block a claimant, and a senior one that waits for one of its needs in its lane or in a lane that
        // holds its place.
        for (place, claimant) in servable.enumerated()
        where needs[claimant]!.allSatisfy({ $0.units <= free($0.resource) }) {
            let isBlocked = servable[..<place].contains { senior in
                (senior % 3 == claimant % 3 || !givesWay[senior % 3])
                    && needs[senior]!.contains { need in needs[claimant]!.contains { $0.resource == need.resource } }
            }
            if !isBlocked { mistake = "\(claimant) could be served" }
        }
    }

    private func units(_ claimants: Set<Int>, of resource: Int) -> Int {
        claimants.reduce(0) { sum, claimant in
            sum + needs[claimant]!.filter { $0.resource == resource }.reduce(0) { $0 + $1.units }
        }
    }

    private func free(_ resource: Int) -> Int {
        capacities[resource] - units(holding, of: resource) - units(offered, of: resource)
    }
}

/// The state that the ledger keeps, and the number of entries that it visits.
@Suite(.timeLimit(.minutes(5))) struct ResourceLedgerSizeTests {
    /// A claimant whose comparisons are counted.
    private struct Counted: Hashable {
        let number: Int
        nonisolated(unsafe) static var comparisons = 0

        static func == (a: Counted, b: Counted) -> Bool {
            comparisons += 1
            return a.number == b.number
        }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    /// Returns the comparisons of parking this many claimants, and of serving or withdrawing them.
    private func comparisons(_ count: Int, withdrawing: Bool) -> Int {
        var ledger = ResourceLedger<Counted>()
        let resource = ledger.addResource(capacity: 10)
        let before = Counted.comparisons
        _ = ledger.request(Counted(number: -1), [.init(1, of: resource)])
        for number in 0..<count { _ = ledger.request(Counted(number: number), [.init(10, of: resource)]) }
        _ = ledger.setCapacity(5, of: resource)
        _ = ledger.withdraw(Counted(number: -1))
        if withdrawing {
            for number in (0..<count).reversed() { _ = ledger.withdraw(Counted(number: number)) }
        } else {
            _ = ledger.setCapacity(10, of: resource)
            for number in 0..<count { _ = ledger.withdraw(Counted(number: number)) }
        }
        #expect(ledger.usage(of: resource).waiting == 0)
        return Counted.comparisons - before
    }

    @Test func `parking, serving and withdrawing claimants takes linear time`() {
        let count = Stress.rounds(2000, least: 500)
        for withdrawing in [false, true] {
            let (single, double) = (
                comparisons(count, withdrawing: withdrawing), comparisons(2 * count, withdrawing: withdrawing)
            )
            #expect(double < 3 * single && single < count * 100, "\(single), \(double)")
        }
    }

    @Test(.tags(.slow))
    func `a name is forgotten when its last claimant withdraws, and a resource when it is removed as well`() {
        var ledger = ResourceLedger<Int>()
        let kept = ledger.addResource(capacity: 1)
        for number in 0..<Stress.rounds(100_000, least: 4_000) {
            let resource = ledger.resource(named: "\(number)")
            let first = ledger.request(1, [.init(1, of: resource)])
            let second = ledger.request(2, [.init(1, of: ledger.resource(named: "\(number)"))])
            guard first.isGranted, !second.isGranted, ledger.withdraw(1) == [2],
                ledger.known("\(number)") != nil
            else {
                Issue.record("\(number)")
                return
            }
            _ = ledger.withdraw(2)
            let other = ledger.addResource(capacity: 2)
            _ = ledger.request(3, [.init(1, of: other)])
            ledger.removeResource(other)
            guard ledger.known("\(number)") == nil, ledger.resourceCount == 2, other < 3 else {
                Issue.record("\(number): \(ledger.resourceCount), \(other)")
                return
            }
            _ = ledger.withdraw(3)
        }
        #expect(ledger.resourceCount == 1)
        ledger.removeResource(kept)
        #expect(ledger.resourceCount == 0)
    }

    @Test func `changed needs end the use of the earlier ones`() {
        var ledger = ResourceLedger<Int>()
        _ = ledger.request(1, [.init(1, of: ledger.resource(named: "a"))])
        _ = ledger.request(2, [.init(1, of: ledger.resource(named: "a"))])
        _ = ledger.request(2, [.init(1, of: ledger.resource(named: "b"))])
        #expect(["a", "b"].map { ledger.known($0).flatMap(ledger.soleHolder) } == [1, 2])
        _ = ledger.withdraw(1)
        #expect(ledger.known("a") == nil && ledger.resourceCount == 1)
    }
}
