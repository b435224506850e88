/// An array that needs no allocation for one element. Most observed objects have one observer.
enum OneOrMore<Element> {
    case none
    case one(Element)
    /// At least two elements.
    case more([Element])

    init() { self = .none }

    var count: Int {
        switch self {
        case .none: 0
        case .one: 1
        case .more(let elements): elements.count
        }
    }

    var isEmpty: Bool { count == 0 }

    subscript(index: Int) -> Element {
        switch self {
        case .none: fatalError("there is no element")
        case .one(let element): element
        case .more(let elements): elements[index]
        }
    }

    mutating func append(_ element: Element) {
        switch consume self {
        case .none: self = .one(element)
        case .one(let first): self = .more([first, element])
        case .more(var elements):
            elements.append(element)
            self = .more(elements)
        }
    }

    func firstIndex(where predicate: (Element) -> Bool) -> Int? {
        switch self {
        case .none: nil
        case .one(let element): predicate(element) ? 0 : nil
        case .more(let elements): elements.firstIndex(where: predicate)
        }
    }

    func contains(where predicate: (Element) -> Bool) -> Bool { firstIndex(where: predicate) != nil }

    func forEach(_ body: (Element) -> Void) {
        switch self {
        case .none: return
        case .one(let element): body(element)
        case .more(let elements): for element in elements { body(element) }
        }
    }

    func filter(_ isIncluded: (Element) -> Bool) -> OneOrMore {
        switch self {
        case .none: return .none
        case .one(let element): return isIncluded(element) ? self : .none
        case .more(let elements):
            let included = elements.filter(isIncluded)
            return included.count > 1 ? .more(included) : included.first.map { .one($0) } ?? .none
        }
    }
}
