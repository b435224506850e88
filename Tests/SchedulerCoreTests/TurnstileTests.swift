import SchedulerCore
import TestSupport
import Testing

@Suite(.timeLimit(.minutes(5))) struct TurnstileTests {
    /// Starts the offered members, in the order of the offers, like a queue.
    private struct Line {
        var turnstile = Turnstile()
        var offered: [UInt] = []
        var started: [UInt] = []
        private var arrivals: UInt64 = 0

        mutating func add(_ id: UInt, _ key: String, _ lane: PriorityLane = .normal) {
            arrivals += 1
            take(turnstile.becameReady(id, key: key, lane: lane, arrival: arrivals))
        }

        mutating func take(_ shift: Turnstile.Shift) {
            offered.removeAll(where: shift.retracted.contains)
            offered += shift.offered
        }

        mutating func take(_ id: UInt?) { if let id { offered.append(id) } }

        mutating func start() {
            let id = offered.removeFirst()
            started.append(id)
            take(turnstile.started(id))
        }
    }

    @Test func `keys take turns, regardless of the number of their members`() {
        var line = Line()
        for id: UInt in 1...5 { line.add(id, "a") }
        for id: UInt in 11...12 { line.add(id, "b") }
        line.add(21, "c")
        for _ in 0..<8 { line.start() }
        #expect(line.started == [1, 11, 21, 2, 12, 3, 4, 5])
    }

    @Test func `an earlier arrival of the same priority does not take the turn that was offered`() {
        var turnstile = Turnstile()
        let late = turnstile.becameReady(2, key: "a", lane: .normal, arrival: 2)
        let early = turnstile.becameReady(1, key: "a", lane: .normal, arrival: 1)
        #expect(late.offered == [2] && early.offered.isEmpty && early.retracted.isEmpty)
        let next = turnstile.started(2)
        #expect(next == 1)
    }

    @Test func `a changed default limit applies at once to the keys that have members`() {
        var line = Line()
        _ = line.turnstile.setDefaultLimit(1)
        for id: UInt in 1...3 { line.add(id, "a") }
        line.start()
        #expect(line.offered.isEmpty)
        line.take(line.turnstile.setDefaultLimit(2))
        #expect(line.offered == [2])
        line.take(line.turnstile.setDefaultLimit(1))
        #expect(line.offered.isEmpty)
    }

    @Test func `no more members of a key run than its limit, and of other keys as many as the default`() {
        var line = Line()
        _ = line.turnstile.setDefaultLimit(2)
        _ = line.turnstile.setLimit(1, of: "a")
        for id: UInt in 1...3 { line.add(id, "a") }
        for id: UInt in 11...13 { line.add(id, "b") }
        while !line.offered.isEmpty { line.start() }
        #expect(line.started == [1, 11, 12])
        #expect(line.turnstile.isHeldByLimit(2) && line.turnstile.isHeldByLimit(13))
        line.take(line.turnstile.left(1))
        line.take(line.turnstile.left(11))
        #expect(line.offered == [2, 13])
        let more = line.turnstile.setLimit(3, of: "a")
        #expect(more.offered.isEmpty && more.retracted.isEmpty)
        line.start()
        #expect(line.offered == [13, 3])
        let less = line.turnstile.setLimit(1, of: "a")
        #expect(less.retracted == [3] && line.turnstile.isHeldByLimit(3))
    }

    @Test func `within a key the higher priority goes first, also when it is changed`() {
        var line = Line()
        line.add(1, "a")
        line.add(2, "a", .low)
        line.add(3, "a", .high)
        line.add(4, "a")
        line.take(line.turnstile.becameReady(2, key: "a", lane: .veryHigh, arrival: 2))
        for _ in 0..<4 { line.start() }
        #expect(line.started == [2, 3, 1, 4])
    }

    @Test func `a key whose members have all left keeps its limit for later members`() {
        var line = Line()
        _ = line.turnstile.setLimit(1, of: "a")
        line.add(1, "a")
        line.start()
        line.take(line.turnstile.left(1))
        // In the place of the previous line.
        line.add(2, "b")
        line.add(3, "b")
        line.start()
        line.start()
        line.add(4, "a")
        line.add(5, "a")
        line.start()
        #expect(line.started == [1, 2, 3, 4] && line.offered.isEmpty && line.turnstile.isHeldByLimit(5))
    }

    @Test func `a member that is no longer ready passes its turn to the next one`() {
        var line = Line()
        line.add(1, "a")
        line.add(2, "a")
        line.add(3, "a")
        #expect(line.offered == [1])
        let next = [line.turnstile.left(1), line.turnstile.left(3), line.turnstile.left(2), line.turnstile.left(9)]
        #expect(next == [2, nil, nil, nil])
        #expect(line.turnstile.isEmpty)
    }

    @Test(arguments: 0..<100 as Range<UInt64>)
    func `no limit is exceeded, one member of a key is offered, and no member is forgotten`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var turnstile = Turnstile()
        var keys: [UInt: Int] = [:]
        var (offered, running, limits) = (Set<UInt>(), Set<UInt>(), [Int: Int]())
        var last: UInt = 0
        func check(_ event: String) {
            for key in 0..<4 {
                let own = offered.filter { keys[$0] == key }
                let runs = running.filter { keys[$0] == key }.count
                if own.count > 1 { Issue.record("seed \(seed), \(event): \(own.count) offered of a key") }
                if runs != turnstile.running("\(key)") { Issue.record("seed \(seed), \(event): \(runs) run") }
                let waits = keys.contains { $0.value == key && !offered.contains($0.key) && !running.contains($0.key) }
                if own.isEmpty, waits, runs < limits[key] ?? 2 { Issue.record("seed \(seed), \(event): forgotten") }
            }
        }
        func take(_ shift: Turnstile.Shift) {
            offered.subtract(shift.retracted)
            offered.formUnion(shift.offered)
        }
        take(turnstile.setDefaultLimit(2))
        for _ in 0..<300 {
            switch random.below(6) {
            case 0...1:
                last += 1
                keys[last] = random.below(4)
                take(
                    turnstile.becameReady(
                        last, key: "\(keys[last]!)", lane: random.pick(PriorityLane.allCases), arrival: UInt64(last)))
            case 2...3:
                guard let id = offered.sorted().first else { continue }
                offered.remove(id)
                running.insert(id)
                if running.filter({ keys[$0] == keys[id] }).count > limits[keys[id]!] ?? 2 {
                    Issue.record("seed \(seed): too many")
                }
                if let next = turnstile.started(id) { offered.insert(next) }
            case 4:
                guard let id = random.chance(70) ? running.sorted().first : keys.keys.sorted().first else { continue }
                keys[id] = nil
                offered.remove(id)
                running.remove(id)
                if let next = turnstile.left(id) { offered.insert(next) }
            default:
                let key = random.below(4)
                limits[key] = random.below(5)
                take(turnstile.setLimit(limits[key], of: "\(key)"))
            }
            check("")
        }
    }
}
