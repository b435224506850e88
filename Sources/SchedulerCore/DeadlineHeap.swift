/// Elements by deadline, the earliest first, and of equal ones the one inserted first.
///
/// A binary heap: O(log n) to insert and to remove. Deadlines are numbers of any one unit.
public struct DeadlineHeap<Element> {
    private struct Entry {
        let deadline: UInt64
        let insertion: UInt64
        let element: Element

        func precedes(_ other: Entry) -> Bool {
            (deadline, insertion) < (other.deadline, other.insertion)
        }
    }

    private var entries: [Entry] = []
    private var insertions: UInt64 = 0

    public init() {}

    public var count: Int { entries.count }

    /// When the first element is due; nil when there is none.
    public var earliest: UInt64? { entries.first?.deadline }

    /// The first element and when it is due.
    public var first: (deadline: UInt64, element: Element)? { entries.first.map { ($0.deadline, $0.element) } }

    public mutating func insert(_ element: Element, at deadline: UInt64) {
        entries.append(Entry(deadline: deadline, insertion: insertions, element: element))
        insertions += 1
        siftUp(from: entries.count - 1)
    }

    /// Removes and returns the first element, unless that is due only after `now`.
    public mutating func removeFirst(dueBy now: UInt64) -> Element? {
        guard let first = entries.first, first.deadline <= now else { return nil }
        let last = entries.removeLast()
        guard !entries.isEmpty else { return last.element }
        entries[0] = last
        siftDown(from: 0)
        return first.element
    }

    /// Removes all that fulfil the condition. O(n).
    public mutating func removeAll(where isToGo: (Element) -> Bool) {
        entries.removeAll { isToGo($0.element) }
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
