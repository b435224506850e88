/// The ready members of a lane that became ready after a later member: a binary heap by arrival.
///
/// Each member has its position, so removal needs no search. O(log n).
struct LateHeap {
    private struct Entry {
        let arrival: UInt64
        let member: MemberReference
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }
    var count: Int { entries.count }

    /// The member that arrived first. O(1).
    var first: MemberReference? { entries.first?.member }

    /// Calls the body with each member, in no order. O(n).
    func forEach(_ body: (ScheduleMember) -> Void) {
        for entry in entries { body(entry.member.takeUnretainedValue()) }
    }

    mutating func insert(_ member: MemberReference) {
        member._withUnsafeGuaranteedRef { $0.isLate = true }
        entries.append(Entry(arrival: member.arrival, member: member))
        siftUp(from: entries.count - 1)
    }

    mutating func remove(_ member: MemberReference) {
        let index = member._withUnsafeGuaranteedRef { member in
            member.isLate = false
            return Int(member.position)
        }
        let last = entries.removeLast()
        if entries.isEmpty, entries.capacity > MemberRing.kept { entries = [] }
        guard index < entries.count else { return }
        entries[index] = last
        siftUp(from: siftDown(from: index))
    }

    private mutating func place(_ entry: Entry, at index: Int) {
        entries[index] = entry
        entry.member._withUnsafeGuaranteedRef { $0.position = UInt32(index) }
    }

    private mutating func siftUp(from start: Int) {
        let entry = entries[start]
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entry.arrival < entries[parent].arrival else { break }
            place(entries[parent], at: child)
            child = parent
        }
        place(entry, at: child)
    }

    /// Returns the position at which the entry has come to rest.
    private mutating func siftDown(from start: Int) -> Int {
        let entry = entries[start]
        var parent = start
        while true {
            var child = 2 * parent + 1
            guard child < entries.count else { break }
            if child + 1 < entries.count, entries[child + 1].arrival < entries[child].arrival { child += 1 }
            guard entries[child].arrival < entry.arrival else { break }
            place(entries[child], at: parent)
            parent = child
        }
        place(entry, at: parent)
        return parent
    }

    /// Whether the order and the positions are right. For tests.
    var isHeap: Bool {
        entries.indices.allSatisfy { index in
            entries[index].arrival >= entries[index == 0 ? 0 : (index - 1) / 2].arrival
                && entries[index].member._withUnsafeGuaranteedRef { $0.isLate && Int($0.position) == index }
        }
    }
}
