/// Elements by rank, the least first; elements of equal rank keep the order in which they were inserted.
///
/// A binary heap: O(log n) to insert and to remove.
public struct RankedHeap<Rank: Comparable, Element> {
    private struct Entry {
        let rank: Rank
        let insertion: UInt64
        let element: Element

        func precedes(_ other: Entry) -> Bool {
            rank == other.rank ? insertion < other.insertion : rank < other.rank
        }
    }

    private var entries: [Entry] = []
    private var insertions: UInt64 = 0

    public init() {}

    public var count: Int { entries.count }

    /// The first element and its rank; nil when the heap is empty. O(1).
    public var first: (rank: Rank, element: Element)? { entries.first.map { ($0.rank, $0.element) } }

    public mutating func insert(_ element: Element, at rank: Rank) {
        entries.append(Entry(rank: rank, insertion: insertions, element: element))
        insertions += 1
        siftUp(from: entries.count - 1)
    }

    /// Removes and returns the first element.
    @discardableResult
    public mutating func popFirst() -> Element? {
        guard let first = entries.first else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return last.element }
        entries[0] = last
        siftDown(from: 0)
        return first.element
    }

    /// Removes all elements that satisfy the condition. O(n).
    public mutating func removeAll(where isToGo: (Element) -> Bool) {
        removeAll { _, element in isToGo(element) }
    }

    /// Removes all elements that satisfy the condition, which also sees their rank. O(n).
    public mutating func removeAll(where isToGo: (Rank, Element) -> Bool) {
        entries.removeAll { isToGo($0.rank, $0.element) }
        for parent in entries.indices.prefix(entries.count / 2).reversed() { siftDown(from: parent) }
    }

    private mutating func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].precedes(entries[parent]) else { return }
            entries.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var first = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].precedes(entries[first]) { first = child }
            guard first != parent else { return }
            entries.swapAt(parent, first)
            parent = first
        }
    }
}
