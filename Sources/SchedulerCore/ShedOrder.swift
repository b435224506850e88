/// Which of the members that wait are to leave a full queue in favor of new ones, and in which order. A plain value.
///
/// A member joins when it begins to wait, leaves when it starts or ends, and joins again with its old arrival when it is put
/// back. Each step is O(log n).
public struct ShedOrder {
    public typealias ID = Schedule.ID

    public enum Rule: Sendable {
        /// The member that arrived first goes first.
        case oldest
        /// The member of the lowest lane goes first; of several, the one that arrived last.
        case lowest
    }

    private struct Rank: Comparable {
        let lane: PriorityLane
        let arrival: UInt64

        static func < (a: Rank, b: Rank) -> Bool { (a.lane, a.arrival) < (b.lane, b.arrival) }
    }

    public let rule: Rule
    private var members: [ID: Rank] = [:]
    /// An entry whose member has left, or has another rank by now, is skipped.
    private var line = RankedHeap<Rank, ID>()

    public init(_ rule: Rule) { self.rule = rule }

    public var count: Int { members.count }

    /// The member waits, in this lane.
    public mutating func waits(_ id: ID, lane: PriorityLane, arrival: UInt64) {
        let rank =
            switch rule {
            case .oldest: Rank(lane: .normal, arrival: arrival)
            case .lowest: Rank(lane: lane, arrival: ~arrival)
            }
        guard members[id] != rank else { return }
        members[id] = rank
        line.insert(id, at: rank)
        if line.count > 2 * members.count + 64 { line.removeAll { rank, id in members[id] != rank } }
    }

    /// The member waits no more. No effect on others.
    public mutating func leaves(_ id: ID) { members[id] = nil }

    /// Takes so many members out, the first to go first; nil when there are not so many, and then none is taken.
    ///
    /// - Parameters:
    ///   - highest: By the rule `lowest`, members of higher lanes stay.
    ///   - mayGo: Answers whether a member may leave at all. One that may not is forgotten until it waits again.
    public mutating func take(_ count: Int, upTo highest: PriorityLane, where mayGo: (ID) -> Bool) -> [ID]? {
        var taken: [(id: ID, rank: Rank)] = []
        while taken.count < count, let (rank, id) = line.first {
            if members[id] == rank {
                if rule == .lowest, rank.lane > highest { break }
                members[id] = nil
                if mayGo(id) { taken.append((id, rank)) }
            }
            line.popFirst()
        }
        guard taken.count < count else { return taken.map(\.id) }
        for (id, rank) in taken {
            members[id] = rank
            line.insert(id, at: rank)
        }
        return nil
    }
}
