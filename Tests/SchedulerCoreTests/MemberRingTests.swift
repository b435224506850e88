import TestSupport
import Testing

@testable import SchedulerCore

@Suite(.tags(.release)) struct MemberRingTests {
    private typealias Member = TestSchedule.Member

    @Test(arguments: 1...UInt64(Stress.rounds(50, least: 15)))
    func `a ring behaves like an array, also where its ordinals wrap around`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        var ring = MemberRing()
        (ring.head, ring.tail) = (.max - 20, .max - 20)
        var array: [Member] = []
        for step in 1...600 {
            switch generator.below(10) {
            case 0..<5:
                array.append(Member(UInt(step)))
                ring.append(.passUnretained(array.last!))
            case 5..<7:
                try #require(ring.popFirst()?.toOpaque() == array.first.map(opaque))
                if !array.isEmpty { array.removeFirst() }
            default:
                guard !array.isEmpty else { break }
                ring.remove(.passUnretained(array.remove(at: generator.below(array.count))))
            }
            var found: [ScheduleMember] = []
            ring.forEach { found.append($0) }
            try #require(
                found.map(ObjectIdentifier.init) == array.map(ObjectIdentifier.init), "seed \(seed), step \(step)")
            try #require(ring.count == array.count && ring.isConsistent)
            try #require(ring.first?.toOpaque() == array.first.map(opaque))
            try #require(ring.last?.toOpaque() == array.last.map(opaque))
        }
    }

    @Test func `a member that leaves and comes back a hundred thousand times needs no more slots`() {
        var ring = MemberRing()
        let (first, restless) = (Member(1), Member(2))
        ring.append(.passUnretained(first))
        for _ in 0..<100_000 {
            ring.append(.passUnretained(restless))
            ring.remove(.passUnretained(restless))
        }
        // A member at the end stays, so each removal leaves a gap.
        for _ in 0..<100_000 {
            ring.append(.passUnretained(restless))
            ring.remove(.passUnretained(first))
            ring.append(.passUnretained(first))
            ring.remove(.passUnretained(restless))
        }
        #expect(ring.count == 1 && ring.isConsistent && ring.slots.count == 8)
    }

    /// In a large ring the members have left the cache.
    @Test func `a ring that grows does not change its members`() {
        var ring = MemberRing()
        (ring.head, ring.tail) = (.max - 20, .max - 20)
        let members = (0..<100).map { Member(UInt($0)) }
        for member in members.prefix(64) { ring.append(.passUnretained(member)) }
        for member in members[10..<20] { ring.remove(.passUnretained(member)) }
        let positions = members.map(\.position)
        for member in members[64...] { ring.append(.passUnretained(member)) }
        #expect(ring.slots.count == 128 && ring.isConsistent && ring.count == 90)
        #expect(members.prefix(64).map(\.position) == Array(positions.prefix(64)))
    }

    @Test func `an empty ring keeps a limited number of slots`() {
        var ring = MemberRing()
        let members = (0..<100_000).map { Member(UInt($0)) }
        for member in members { ring.append(.passUnretained(member)) }
        #expect(ring.slots.count == 131_072)
        var generator = SeededRandom(seed: 1)
        for member in members.shuffled(using: &generator) { ring.remove(.passUnretained(member)) }
        #expect(ring.slots.isEmpty)
        for member in members.prefix(10_000) { ring.append(.passUnretained(member)) }
        while ring.popFirst() != nil {}
        #expect(ring.slots.count == 16_384 && ring.isConsistent)
    }

    private func opaque(_ member: Member) -> UnsafeMutableRawPointer { Unmanaged.passUnretained(member).toOpaque() }
}
