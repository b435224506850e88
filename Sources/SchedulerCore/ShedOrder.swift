import OperationsPrimitives

/// The waiting members of a full queue that leave in favor of new ones, in order. A plain value.
///
/// A member joins when it begins to wait, and leaves when it starts or ends. A member that is put back joins again with
/// its old arrival. Each step is O(log n).
public struct ShedOrder {
    public typealias ID = Schedule.ID

    public enum Rule: Sendable {
        /// The member that arrived first is shed first.
        case oldest
        /// A member of the lowest lane is shed first; of several, the one that arrived last.
        case lowest
    }

    private struct Rank: Comparable {
        let lane: PriorityLane
        let arrival: UInt64

        static func < (a: Rank, b: Rank) -> Bool { (a.lane, a.arrival) < (b.lane, b.arrival) }
    }

    public let rule: Rule
    private var members: [ID: Rank] = [:]
    /// The members by rank. An entry whose member has left, or has another rank by now, is skipped.
    private var line = RankedHeap<Rank, ID>()

    public init(_ rule: Rule) { self.rule = rule }

    public var count: Int { members.count }

    /// Adds a waiting member in this lane, or changes its lane.
    public mutating func waits(_ id: ID, lane: PriorityLane, arrival: UInt64) {
        let rank =
            switch rule {
            case .oldest: Rank(lane: .normal, arrival: arrival)
            case .lowest: Rank(lane: lane, arrival: ~arrival)
            }
        guard members[id] != rank else { return }
        members[id] = rank
        line.insert(id, at: rank)
        if line.count > 2 * members.count + 64 { sweep() }
    }

    /// Removes skipped entries. A member that has left and waits again may have several entries of its rank.
    private mutating func sweep() {
        var kept: Set<ID> = []
        line.removeAll { rank, id in members[id] != rank || !kept.insert(id).inserted }
    }

    /// The number of entries, skipped ones included.
    var entryCount: Int { line.count }

    /// Removes a member that no longer waits. No effect on other members.
    public mutating func leaves(_ id: ID) { members[id] = nil }

    /// Removes this many members, the first ones to shed; nil when there are too few, and then none is removed.
    ///
    /// - Parameters:
    ///   - highest: With the rule `lowest`, members of higher lanes stay.
    ///   - mayGo: Returns whether a member may leave. A member that may not is forgotten until it waits again.
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
