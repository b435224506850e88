/// A first-in, first-out buffer that grows by doubling; every operation is O(1) amortised.
public struct Ring<Element> {
    /// Its count is 0 or a power of two.
    private var storage: [Element?] = []
    private var head = 0
    public private(set) var count = 0

    public init() {}

    public var isEmpty: Bool { count == 0 }

    public var first: Element? { count == 0 ? nil : storage[head] }

    public var last: Element? { count == 0 ? nil : storage[position(count - 1)] }

    /// The element at `index`, counted from the oldest.
    public subscript(index: Int) -> Element {
        get { storage[position(index)].unsafelyUnwrapped }
        set { storage[position(index)] = newValue }
        _modify {
            precondition(index < count)
            yield &storage[position(index)]!
        }
    }

    public mutating func append(_ element: Element) {
        if count == storage.count { grow() }
        storage[position(count)] = element
        count += 1
    }

    public mutating func popFirst() -> Element? {
        guard count > 0 else { return nil }
        let element = storage[head].take()
        head = position(1)
        count -= 1
        return element
    }

    private func position(_ index: Int) -> Int {
        (head &+ index) & (storage.count &- 1)
    }

    private mutating func grow() {
        var larger: [Element?] = []
        larger.reserveCapacity(Swift.max(8, storage.count * 2))
        larger.append(contentsOf: storage[head...])
        larger.append(contentsOf: storage[..<head])
        larger.append(contentsOf: repeatElement(nil, count: Swift.max(8, storage.count)))
        storage = larger
        head = 0
    }
}
