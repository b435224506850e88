/// An array whose first element needs no allocation: most operations have one dependency and one dependent, or none.
@frozen
public struct SmallArray<Element> {
    @usableFromInline var first: Element?
    @usableFromInline var rest: [Element] = []

    @inlinable
    public init() {}

    @inlinable
    public var count: Int { first == nil ? 0 : rest.count + 1 }

    @inlinable
    public var isEmpty: Bool { first == nil }

    @inlinable
    public subscript(index: Int) -> Element { index == 0 ? first.unsafelyUnwrapped : rest[index - 1] }

    /// Changes an element in place. A `_modify` accessor would allocate each time.
    @inlinable @inline(__always)
    public mutating func update<Result>(at index: Int, _ change: (inout Element) -> Result) -> Result {
        index == 0 ? change(&first!) : change(&rest[index - 1])
    }

    @inlinable
    public mutating func append(_ element: Element) {
        if first == nil {
            first = element
        } else {
            // A second element usually comes with others.
            if rest.isEmpty { rest.reserveCapacity(4) }
            rest.append(element)
        }
    }

    /// Passes all elements on, in order, and empties the array. The first element is moved, not copied.
    @inlinable
    public mutating func handOver(_ receive: (consuming Element) -> Void) {
        guard let first = first.take() else { return }
        receive(first)
        let others = rest
        rest = []
        for element in others { receive(element) }
    }

    @inlinable
    public func firstIndex(where predicate: (Element) -> Bool) -> Int? {
        guard let first else { return nil }
        return predicate(first) ? 0 : rest.firstIndex(where: predicate).map { $0 + 1 }
    }

    /// The elements as an array, in order. O(n).
    @inlinable
    public var elements: [Element] { first.map { [$0] + rest } ?? [] }

    /// Removes the elements that satisfy the predicate and keeps the order of the others. O(n).
    @inlinable
    public mutating func removeAll(where predicate: (Element) -> Bool) {
        let kept = elements.filter { !predicate($0) }
        first = kept.first
        rest = Array(kept.dropFirst())
    }
}
