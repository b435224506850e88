/// Elements in the order in which they were added, each of them once. Any of them is removed in O(1) in the mean.
///
/// An array would search for the element, and then move all elements behind it. One element needs no allocation.
package struct RemovableList<Element: Identifiable> {
    /// The element, if there is only one.
    private var only: Element?
    /// Two elements or more. Separate, so that the list of one element is small.
    private var many: Many?

    private final class Many {
        /// Without an index there are no holes, and with one at most half of the places are holes.
        @exclusivity(unchecked) var places: [Element?]
        /// The places of the elements. Empty as long as there are few elements.
        @exclusivity(unchecked) var index: [Element.ID: Int]

        init(_ places: [Element?], _ index: [Element.ID: Int]) { (self.places, self.index) = (places, index) }
    }

    /// A list gets its index when it has more elements than that.
    static var few: Int { 16 }

    package init() {}

    package var count: Int {
        guard let many else { return only == nil ? 0 : 1 }
        return many.index.isEmpty ? many.places.count : many.index.count
    }

    /// The element, if there is only one.
    var sole: Element? { only }

    /// Removes and returns the element, if there is only one.
    mutating func takeSole() -> Element? { only.take() }

    package var isEmpty: Bool { only == nil && many == nil }

    /// The identity of the object with two elements or more. For tests.
    var identity: ObjectIdentifier? { many.map(ObjectIdentifier.init) }

    /// How many places there are, holes included.
    var placeCount: Int { many?.places.count ?? 0 }

    package mutating func append(_ element: Element) {
        if isEmpty {
            only = element
            return
        }
        if let first = only.take() {
            many = Many([first, element], [:])
            return
        }
        let many = ownMany.unsafelyUnwrapped
        many.places.append(element)
        if !many.index.isEmpty {
            many.index[element.id] = many.places.count - 1
        } else if many.places.count > Self.few {
            makeIndex(of: many)
        }
    }

    /// Removes the element, if it is there.
    package mutating func remove(_ id: Element.ID) {
        if let present = only, present.id == id { only = nil }
        guard let many = ownMany else { return }
        if many.index.isEmpty {
            guard let place = many.places.firstIndex(where: { $0?.id == id }) else { return }
            many.places.remove(at: place)
        } else {
            guard let place = many.index.removeValue(forKey: id) else { return }
            many.places[place] = nil
            // `last` would pass these holes each time.
            while let last = many.places.last, last == nil { many.places.removeLast() }
            guard many.places.count <= Self.few || many.places.count > 2 * many.index.count else { return }
            many.places.removeAll { $0 == nil }
        }
        settle(many)
    }

    /// The elements as an object that no copy of the list has; nil: fewer than two.
    private var ownMany: Many? {
        mutating get {
            // A reference that is taken before the check would make the object a shared one.
            if many != nil, !isKnownUniquelyReferenced(&many), let shared = many {
                many = Many(shared.places, shared.index)
            }
            return many
        }
    }

    /// Chooses the form after elements have been removed, when there are no holes.
    private mutating func settle(_ many: Many) {
        many.index.removeAll(keepingCapacity: many.places.count > Self.few)
        if many.places.count > Self.few { makeIndex(of: many) }
        guard many.places.count < 2 else { return }
        only = many.places.first ?? nil
        self.many = nil
    }

    private func makeIndex(of many: Many) {
        for (place, element) in many.places.enumerated() { if let element { many.index[element.id] = place } }
    }
}

extension RemovableList {
    package func forEach(_ body: (Element) -> Void) {
        if let only { return body(only) }
        for case let element? in many?.places ?? [] { body(element) }
    }

    func first(where predicate: (Element) -> Bool) -> Element? {
        if let only { return predicate(only) ? only : nil }
        for case let element? in many?.places ?? [] where predicate(element) { return element }
        return nil
    }

    func last(where predicate: (Element) -> Bool) -> Element? {
        if let only { return predicate(only) ? only : nil }
        for case let element? in (many?.places ?? []).reversed() where predicate(element) { return element }
        return nil
    }

    func contains(where predicate: (Element) -> Bool) -> Bool { first(where: predicate) != nil }

    func filter(_ isIncluded: (Element) -> Bool) -> OneOrMore<Element> {
        if let only { return isIncluded(only) ? .one(only) : .none }
        var included = OneOrMore<Element>()
        forEach { if isIncluded($0) { included.append($0) } }
        return included
    }

    /// Removes all elements of which the predicate is true.
    mutating func removeAll(where isRemoved: (Element) -> Bool) {
        if let present = only {
            if isRemoved(present) { only = nil }
            return
        }
        guard let many = ownMany else { return }
        many.places.removeAll { $0.map(isRemoved) ?? true }
        settle(many)
    }
}
