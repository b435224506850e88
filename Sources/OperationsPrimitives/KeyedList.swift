/// Elements in the order added, each of which is found by its key: an address.
///
/// Adding, finding and removing cost O(1) amortized: a few elements are searched linearly, many through an index.
@frozen
public struct KeyedList<Element> {
    /// The entries. A removed entry leaves a hole, so that the others keep their place. Holes are closed when they are
    /// the majority.
    @usableFromInline var entries: [(key: UInt, element: Element)?] = []
    @usableFromInline var holes = 0
    /// The position of the first entry that is no hole; the number of entries if there is none.
    @usableFromInline var head = 0
    /// A hash table with linear probing; empty while a search is cheaper. A slot has the position of an entry plus one,
    /// or 0. The number of slots is a power of two, and at least half of the slots are 0.
    @usableFromInline var slots: [UInt32] = []

    @inlinable
    public init() {}

    @inlinable
    public var count: Int { entries.count - holes }

    @inlinable
    public var elements: [Element] { entries.compactMap { $0?.element } }

    /// The element that was added first. O(1).
    @inlinable
    public var first: Element? { head < entries.count ? entries[head]?.element : nil }

    @inlinable
    public func element(of key: UInt) -> Element? { position(of: key).flatMap { entries[$0]?.element } }

    /// Adds an element. False: there is an element of this key.
    @inlinable
    public mutating func add(_ element: Element, key: UInt) -> Bool {
        guard position(of: key) == nil else { return false }
        entries.append((key, element))
        if entries.count > Self.searchLimit {
            if entries.count * 2 > slots.count { buildIndex() } else { insertIntoIndex(entries.count - 1, key: key) }
        }
        return true
    }

    /// Removes the element of a key, if there is one.
    @inlinable
    public mutating func remove(_ key: UInt) -> Element? {
        guard let position = position(of: key), let entry = entries[position] else { return nil }
        // A slot of the index may still have the position of the hole. No search finds a key there.
        entries[position] = nil
        holes += 1
        // Amortized O(1): the position only grows until the holes are closed.
        while head < entries.count, entries[head] == nil { head += 1 }
        if holes > 8, holes * 2 > entries.count {
            entries.removeAll { $0 == nil }
            (holes, head) = (0, 0)
            if entries.count > Self.searchLimit { buildIndex() } else { slots = [] }
        }
        return entry.element
    }

    @inlinable static var searchLimit: Int { 8 }

    @inlinable
    func position(of key: UInt) -> Int? {
        if slots.isEmpty { return entries.firstIndex { $0?.key == key } }
        var slot = firstSlot(of: key)
        while slots[slot] != 0 {
            let position = Int(slots[slot]) - 1
            if entries[position]?.key == key { return position }
            slot = (slot + 1) & (slots.count - 1)
        }
        return nil
    }

    /// Where the search for a key begins. The low bits of an address are 0. The product mixes the others into its high
    /// bits.
    @inlinable
    func firstSlot(of key: UInt) -> Int {
        let mixed = UInt64(truncatingIfNeeded: key >> 4) &* 0x9E37_79B9_7F4A_7C15
        return Int(truncatingIfNeeded: mixed >> 32) & (slots.count - 1)
    }

    @inlinable
    mutating func insertIntoIndex(_ position: Int, key: UInt) {
        var slot = firstSlot(of: key)
        while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
        slots[slot] = UInt32(position + 1)
    }

    @inlinable
    mutating func buildIndex() {
        var count = 32
        while count < entries.count * 4 { count *= 2 }
        slots = Array(repeating: 0, count: count)
        for (position, entry) in entries.enumerated() {
            if let entry { insertIntoIndex(position, key: entry.key) }
        }
    }
}
