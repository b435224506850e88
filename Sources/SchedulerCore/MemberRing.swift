/// Members in the order in which they were appended. Each member has its position, so removal needs no search: it leaves a
/// gap. Every operation is O(1) amortized.
///
/// A list would link the members themselves. Then the address of the next member would be known only when the member
/// before it has come from memory. Addresses in an array permit to fetch members ahead.
@usableFromInline struct MemberRing {
    /// The addresses, 0 for a gap. The count is 0 or a power of two.
    @usableFromInline var slots: [UInt] = []
    /// The ordinals of the first slot in use and of the slot after the last one. They wrap around. Neither end is a gap.
    @usableFromInline var head: UInt32 = 0
    @usableFromInline var tail: UInt32 = 0
    /// The number of members.
    private(set) var count = 0

    /// The number of slots that an empty ring keeps.
    static var kept: Int { 16_384 }

    @inline(__always) var first: MemberReference? { count == 0 ? nil : reference(head) }
    @inline(__always) var last: MemberReference? { count == 0 ? nil : reference(tail &- 1) }

    /// The index of the slot of an ordinal. There are slots.
    @inlinable @inline(__always)
    func index(_ ordinal: UInt32) -> Int { Int(truncatingIfNeeded: ordinal) & (slots.count - 1) }

    /// The members at two distances behind the first one. nil also for a gap, and both if the farther one does not exist.
    @inlinable @inline(__always)
    func ahead(_ near: UInt32, _ far: UInt32) -> (near: MemberReference?, far: MemberReference?) {
        guard tail &- head > far else { return (nil, nil) }
        return slots.withUnsafeBufferPointer { slots in
            func member(_ distance: UInt32) -> MemberReference? {
                UnsafeRawPointer(bitPattern: slots[index(head &+ distance)]).map { .fromOpaque($0) }
            }
            return (member(near), member(far))
        }
    }

    @inline(__always)
    private func reference(_ ordinal: UInt32) -> MemberReference? {
        UnsafeRawPointer(bitPattern: slots[index(ordinal)]).map { .fromOpaque($0) }
    }

    @inline(__always)
    private func isGap(_ ordinal: UInt32) -> Bool { slots[index(ordinal)] == 0 }

    @inline(__always)
    mutating func append(_ member: MemberReference) {
        if Int(tail &- head) == slots.count { makeSpace() }
        slots[index(tail)] = UInt(bitPattern: member.toOpaque())
        member._withUnsafeGuaranteedRef { $0.position = tail }
        tail &+= 1
        count += 1
    }

    @inline(__always)
    mutating func popFirst() -> MemberReference? {
        guard count > 0 else { return nil }
        let member = reference(head)
        head &+= 1
        noteLeft()
        return member
    }

    mutating func remove(_ member: MemberReference) {
        let position = member._withUnsafeGuaranteedRef { $0.position }
        slots[index(position)] = 0
        noteLeft()
    }

    @inline(__always)
    private mutating func noteLeft() {
        count -= 1
        if count == 0 { return empty() }
        if isGap(head) || isGap(tail &- 1) { trim() }
    }

    @inline(__always)
    private mutating func empty() {
        (head, tail) = (0, 0)
        if slots.count > Self.kept { slots = [] }
    }

    /// Drops the gaps at both ends. There is a member.
    @inline(never)
    private mutating func trim() {
        while isGap(head) { head &+= 1 }
        while isGap(tail &- 1) { tail &-= 1 }
    }

    @inline(never)
    private mutating func makeSpace() {
        if count * 2 <= slots.count, count > 0 { closeGaps() } else { doubleSlots() }
    }

    private mutating func closeGaps() {
        var (ordinal, end) = (head, head)
        // Not by `forEach`, which may count references.
        while ordinal != tail {
            if let member = reference(ordinal) {
                slots[index(end)] = UInt(bitPattern: member.toOpaque())
                member._withUnsafeGuaranteedRef { $0.position = end }
                end &+= 1
            }
            ordinal &+= 1
        }
        tail = end
    }

    /// Keeps gaps and positions, so no member has to come from memory.
    private mutating func doubleSlots() {
        let capacity = max(8, slots.count * 2)
        slots = [UInt](unsafeUninitializedCapacity: capacity) { new, count in
            new.initialize(repeating: 0)
            var ordinal = head
            while ordinal != tail {
                new[Int(truncatingIfNeeded: ordinal) & (capacity - 1)] = slots[index(ordinal)]
                ordinal &+= 1
            }
            count = capacity
        }
    }

    /// Calls the body with each member, in order. O(n).
    func forEach(_ body: (ScheduleMember) -> Void) {
        var ordinal = head
        while ordinal != tail {
            if let member = reference(ordinal) { body(member.takeUnretainedValue()) }
            ordinal &+= 1
        }
    }

    /// Whether ends, count and positions are right. For tests.
    var isConsistent: Bool {
        var (found, areInPlace) = (0, true)
        forEach { member in
            found += 1
            areInPlace =
                areInPlace && reference(member.position)?.toOpaque() == Unmanaged.passUnretained(member).toOpaque()
        }
        return areInPlace && found == count && (count > 0 ? first != nil && last != nil : head == tail)
    }
}
