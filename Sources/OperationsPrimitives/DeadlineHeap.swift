/// Elements by deadline, the earliest first. Deadlines are numbers of any one unit.
public typealias DeadlineHeap<Element> = RankedHeap<UInt64, Element>

extension RankedHeap where Rank == UInt64 {
    /// The deadline of the first element; nil when the heap is empty.
    public var earliest: UInt64? { first?.rank }

    /// Removes and returns the first element, unless it is due only after `now`.
    public mutating func removeFirst(dueBy now: UInt64) -> Element? {
        guard let first, first.rank <= now else { return nil }
        return popFirst()
    }
}
