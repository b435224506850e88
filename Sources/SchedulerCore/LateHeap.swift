/// The ready members of a lane that became ready after a later member: a heap by arrival, in which each entry has four children.
///
/// With two children each, the way to the bottom would be twice as long. Each step writes to a member, which may have left the
/// cache. Four children are in one or two cache lines.
///
/// Each member has its position, so removal needs no search. O(log n).
struct LateHeap {
    private struct Entry {
        let arrival: UInt64
        let member: MemberReference
    }

    private static var children: Int { 4 }

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
            let parent = (child - 1) / Self.children
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
            let first = Self.children * parent + 1
            guard first < entries.count else { break }
            var child = first
            for other in first..<min(first + Self.children, entries.count)
            where entries[other].arrival < entries[child].arrival { child = other }
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
            entries[index].arrival >= entries[index == 0 ? 0 : (index - 1) / Self.children].arrival
                && entries[index].member._withUnsafeGuaranteedRef { $0.isLate && Int($0.position) == index }
        }
    }
}
