/// An array whose first element needs no allocation: most objects have one observer, and one change under way.
struct OneOrMore<Element> {
    private var first: Element?
    private var rest: [Element] = []

    var isEmpty: Bool { first == nil }
    var count: Int { first == nil ? 0 : rest.count + 1 }

    subscript(index: Int) -> Element {
        get { index == 0 ? first.unsafelyUnwrapped : rest[index - 1] }
        _modify {
            if index == 0 { yield &first! } else { yield &rest[index - 1] }
        }
    }

    mutating func append(_ element: Element) { if first == nil { first = element } else { rest.append(element) } }

    @discardableResult
    mutating func remove(at index: Int) -> Element {
        guard index == 0 else { return rest.remove(at: index - 1) }
        defer { first = rest.isEmpty ? nil : rest.removeFirst() }
        return first.unsafelyUnwrapped
    }

    func firstIndex(where predicate: (Element) -> Bool) -> Int? {
        guard let first else { return nil }
        return predicate(first) ? 0 : rest.firstIndex(where: predicate).map { $0 + 1 }
    }

    func lastIndex(where predicate: (Element) -> Bool) -> Int? {
        if let index = rest.lastIndex(where: predicate) { return index + 1 }
        return first.map(predicate) == true ? 0 : nil
    }

    func contains(where predicate: (Element) -> Bool) -> Bool { firstIndex(where: predicate) != nil }

    func forEach(_ body: (Element) -> Void) {
        guard let first else { return }
        body(first)
        for element in rest { body(element) }
    }

    func filter(_ isIncluded: (Element) -> Bool) -> OneOrMore {
        var result = OneOrMore()
        forEach { if isIncluded($0) { result.append($0) } }
        return result
    }
}
