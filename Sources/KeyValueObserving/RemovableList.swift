/// Elements in the order in which they were added, each of them once. Any of them is removed in O(1) in the mean.
///
/// An array would search for the element, and then move all elements behind it. One element needs no allocation.
package struct RemovableList<Element: Identifiable> {
    /// The element, if there is only one.
    private var only: Element?
    /// Two elements or more. Without an index there are no holes, and with one at most half of the places are holes.
    private var places: [Element?] = []
    /// The places of the elements. Empty as long as there are few elements.
    private var index = [Element.ID: Int]()

    /// A list gets its index when it has more elements than that.
    private static var few: Int { 16 }

    package init() {}

    package var count: Int {
        if only != nil { return 1 }
        return index.isEmpty ? places.count : index.count
    }

    /// The element, if there is only one.
    var sole: Element? { only }

    package var isEmpty: Bool { only == nil && places.isEmpty }

    /// How many places there are, holes included.
    var placeCount: Int { places.count }

    package mutating func append(_ element: Element) {
        if isEmpty {
            only = element
            return
        }
        if let first = only.take() { places.append(first) }
        places.append(element)
        if !index.isEmpty {
            index[element.id] = places.count - 1
        } else if places.count > Self.few {
            makeIndex()
        }
    }

    /// Removes the element, if it is there.
    package mutating func remove(_ id: Element.ID) {
        if let present = only {
            if present.id == id { only = nil }
            return
        }
        if index.isEmpty {
            guard let place = places.firstIndex(where: { $0?.id == id }) else { return }
            places.remove(at: place)
        } else {
            guard let place = index.removeValue(forKey: id) else { return }
            places[place] = nil
            guard places.count > 2 * index.count else { return }
            places.removeAll { $0 == nil }
        }
        settle()
    }

    /// Chooses the form after elements have been removed, when there are no holes.
    private mutating func settle() {
        index.removeAll(keepingCapacity: places.count > Self.few)
        if places.count > Self.few { makeIndex() }
        guard places.count < 2 else { return }
        only = places.first ?? nil
        places = []
    }

    private mutating func makeIndex() {
        for (place, element) in places.enumerated() { if let element { index[element.id] = place } }
    }
}

extension RemovableList {
    package func forEach(_ body: (Element) -> Void) {
        if let only { return body(only) }
        for case let element? in places { body(element) }
    }

    func first(where predicate: (Element) -> Bool) -> Element? {
        if let only { return predicate(only) ? only : nil }
        for case let element? in places where predicate(element) { return element }
        return nil
    }

    func last(where predicate: (Element) -> Bool) -> Element? {
        if let only { return predicate(only) ? only : nil }
        for case let element? in places.reversed() where predicate(element) { return element }
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
        places.removeAll { $0.map(isRemoved) ?? true }
        settle()
    }
}
