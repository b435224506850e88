/// The base class of the members of a `Schedule`. It has the fields that the schedule keeps in each of them.
///
/// A table of members would need a lookup and two entries for each member. Here the members themselves are linked. The
/// fields belong to the schedule, and the lock of the schedule guards them. None of them is public: a subclass may use the
/// same names.
open class ScheduleMember {
    /// The ordinal of arrival in the schedule, from 1; 0 before the arrival.
    @exclusivity(unchecked) package internal(set) final var arrival: UInt64 = 0
    /// The neighbors in the list of waiting or of running members.
    @exclusivity(unchecked) final var next: Unmanaged<ScheduleMember>?
    @exclusivity(unchecked) final var previous: Unmanaged<ScheduleMember>?
    /// The low half of the ordinal of the segment. It may wrap around.
    @exclusivity(unchecked) final var segment: UInt32 = 0
    /// The position in the heap of late members, or in the ring of the others.
    @exclusivity(unchecked) final var position: UInt32 = 0
    @exclusivity(unchecked) package internal(set) final var state = Schedule.State.new
    @exclusivity(unchecked) final var lane = PriorityLane.normal
    @exclusivity(unchecked) final var service = Schedule.Service.ofQueue
    @exclusivity(unchecked) final var kind = Schedule.Kind.operation
    /// Whether the member is in a heap of late members.
    @exclusivity(unchecked) final var isLate = false

    public init() {}

    /// The offset of the first stored property of a subclass that has the alignment of `UInt64`, if two bytes precede it.
    @inlinable @inline(__always)
    package static var endOfFields: Int {
        let header = 2 * MemoryLayout<Int>.size
        let fields = MemoryLayout<
            (
                UInt64, MemberReference?, MemberReference?, UInt32, UInt32, Schedule.State, PriorityLane,
                Schedule.Service, Schedule.Kind, Bool
            )
        >.size
        let alignment = MemoryLayout<UInt64>.alignment
        return (header + fields + alignment - 1) & ~(alignment - 1)
    }

    final var isBarrier: Bool { kind == .barrier }
}

/// A reference to a member that counts nothing. The caller of the schedule keeps a member alive until it has left.
public typealias MemberReference = Unmanaged<ScheduleMember>

extension Unmanaged where Instance == ScheduleMember {
    // Accessors of the fields, because `takeUnretainedValue` may count a reference.
    var arrival: UInt64 { _withUnsafeGuaranteedRef { $0.arrival } }
    var lane: PriorityLane { _withUnsafeGuaranteedRef { $0.lane } }
    var service: Schedule.Service { _withUnsafeGuaranteedRef { $0.service } }
    var state: Schedule.State { _withUnsafeGuaranteedRef { $0.state } }
    @inline(__always)
    var next: MemberReference? {
        get { _withUnsafeGuaranteedRef { $0.next } }
        nonmutating set { _withUnsafeGuaranteedRef { $0.next = newValue } }
    }
    @inline(__always)
    var previous: MemberReference? {
        get { _withUnsafeGuaranteedRef { $0.previous } }
        nonmutating set { _withUnsafeGuaranteedRef { $0.previous = newValue } }
    }
}

/// Members that are linked by their own fields. A member is in one list at most. Every operation is O(1).
struct MemberList {
    private(set) var first: MemberReference?
    private(set) var last: MemberReference?

    @inline(__always)
    mutating func append(_ member: MemberReference) {
        member.previous = last
        if let last { last.next = member } else { first = member }
        last = member
    }

    @inline(__always)
    mutating func remove(_ member: MemberReference) {
        let (previous, next) = (member.previous, member.next)
        if let previous { previous.next = next } else { first = next }
        if let next { next.previous = previous } else { last = previous }
        member.previous = nil
        member.next = nil
    }

    /// Calls the body with each member. O(n).
    func forEach(_ body: (ScheduleMember) -> Void) {
        var rest = first
        while let member = rest {
            rest = member.next
            body(member.takeUnretainedValue())
        }
    }
}
