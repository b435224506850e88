/// A queue of elements, first in, first out. Both operations are amortized O(1).
///
/// `removeFirst` of an array would move all other elements each time.
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
