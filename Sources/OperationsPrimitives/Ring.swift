/// A first-in, first-out buffer that grows by doubling. Every operation is O(1) amortized.
@frozen
public struct Ring<Element> {
    /// The elements. The count is 0 or a power of two.
    @usableFromInline var storage: [Element?] = []
    @usableFromInline var head = 0
    @usableFromInline var filled = 0

    @inlinable
    public init() {}

    @inlinable
    public var count: Int { filled }

    @inlinable
    public var isEmpty: Bool { count == 0 }

    @inlinable
    public var first: Element? { count == 0 ? nil : storage[head] }

    @inlinable
    public var last: Element? { count == 0 ? nil : storage[position(count - 1)] }

    /// The element at `index`, counted from the oldest.
    @inlinable
    public subscript(index: Int) -> Element {
        get { storage[position(index)].unsafelyUnwrapped }
        set { storage[position(index)] = newValue }
        _modify {
            precondition(index < count)
            yield &storage[position(index)]!
        }
    }

    @inlinable
    public mutating func append(_ element: Element) {
        if count == storage.count { grow() }
        storage[position(count)] = element
        filled += 1
    }

    @inlinable
    public mutating func swapAt(_ a: Int, _ b: Int) { storage.swapAt(position(a), position(b)) }

    @inlinable
    public mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = storage[head].take()
        head = position(1)
        filled -= 1
        return element
    }

    @inlinable
    public mutating func popLast() -> Element? {
        guard count > 0 else { return nil }
        filled -= 1
        return storage[position(filled)].take()
    }

    @inlinable
    func position(_ index: Int) -> Int {
        (head &+ index) & (storage.count &- 1)
    }

    @usableFromInline
    mutating func grow() {
        let (old, head) = (storage, head)
        let capacity = Swift.max(8, old.count * 2)
        storage = [Element?](unsafeUninitializedCapacity: capacity) { larger, count in
            old.withUnsafeBufferPointer { old in
                // Two blocks, and not an element after the other: the copy of a trivial element is then that of its bytes.
                let end = larger.suffix(from: 0).initialize(fromContentsOf: old[head...])
                let middle = larger.suffix(from: end).initialize(fromContentsOf: old[..<head])
                larger.suffix(from: middle).initialize(repeating: nil)
            }
            count = capacity
        }
        self.head = 0
    }
}

extension Ring: Sendable where Element: Sendable {}
