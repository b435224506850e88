/// Elements that leave in the order in which they came. Both ends are O(1) in the mean.
///
/// `removeFirst` of an array would move all others, each time.
struct FirstInFirstOut<Element> {
    private var elements: [Element?] = []
    private var head = 0

    var isEmpty: Bool { head == elements.count }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let first = elements[head].take()
        head += 1
        if isEmpty {
            self = FirstInFirstOut()
        } else if head >= 32, 2 * head >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return first
    }
}
