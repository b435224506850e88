import Testing

@testable import KeyValueObserving

/// The list of the observations of an object, as a value.
struct RemovableListTests {
    @Test(arguments: [0, 1, 2, 3, 16, 17, 18, 40]) func `the elements stay in their order, whichever are removed`(
        count: Int
    ) {
        let orders: [[Int]] = [
            Array(0..<count), (0..<count).reversed(), (0..<count).map { ($0 * 7 + 3) % max(count, 1) },
            Array(0..<count / 2),
        ]
        for order in orders {
            var (list, expected) = (RemovableList<Numbered>(), Array(0..<count))
            for number in expected { list.append(Numbered(id: number)) }
            #expect(list.numbers == expected)
            for number in order {
                list.remove(number)
                expected.removeAll { $0 == number }
                #expect(list.numbers == expected)
                #expect(list.count == expected.count && list.isEmpty == expected.isEmpty)
                #expect(list.first { _ in true }?.id == expected.first && list.last { _ in true }?.id == expected.last)
            }
            for number in count..<count + 20 { list.append(Numbered(id: number)) }
            #expect(list.numbers == expected + Array(count..<count + 20))
        }
    }

    @Test(arguments: [1, 2, 3, 20]) func `a copy keeps its elements when the list changes`(count: Int) {
        let changes: [(inout RemovableList<Numbered>) -> Void] = [
            { $0.append(Numbered(id: count)) }, { $0.remove(0) }, { $0.removeAll { $0.id % 2 == 0 } },
        ]
        for change in changes {
            var list = RemovableList<Numbered>()
            for number in 0..<count { list.append(Numbered(id: number)) }
            let copy = list
            change(&list)
            #expect(copy.numbers == Array(0..<count))
            #expect(list.numbers != copy.numbers)
        }
    }

    @Test func `a list that is not shared changes in place`() {
        var list = RemovableList<Numbered>()
        for number in 0..<3 { list.append(Numbered(id: number)) }
        let before = list.identity
        // Checked after each change: a second copy may have the address of the first object.
        list.append(Numbered(id: 3))
        #expect(list.identity == before && before != nil)
        list.remove(1)
        #expect(list.identity == before)
    }

    @Test func `an element that is not there is not removed`() {
        var list = RemovableList<Numbered>()
        for count in 0..<40 {
            list.remove(-1)
            #expect(list.count == count)
            list.append(Numbered(id: count))
        }
        list.remove(20)
        list.remove(20)
        #expect(list.count == 39)
    }

    @Test func `at most half of the places are holes`() {
        var list = RemovableList<Numbered>()
        for number in 0..<1000 { list.append(Numbered(id: number)) }
        for number in 0..<1000 {
            list.remove(number)
            #expect(list.placeCount <= 2 * list.count)
        }
        #expect(list.isEmpty)
    }

    @Test func `no holes remain at the end`() {
        var list = RemovableList<Numbered>()
        for number in 0..<1000 { list.append(Numbered(id: number)) }
        for number in (500..<1000).reversed() {
            list.remove(number)
            #expect(list.placeCount == number)
        }
        for number in 100..<499 { list.remove(number) }
        list.remove(499)
        #expect(list.placeCount == 100 && list.numbers == Array(0..<100))
    }

    @Test(arguments: [1, 10, 100]) func `those that a predicate chooses are removed together`(count: Int) {
        var list = RemovableList<Numbered>()
        for number in 0..<count { list.append(Numbered(id: number)) }
        list.remove(0)
        list.append(Numbered(id: 0))
        list.removeAll { $0.id % 3 == 0 }
        #expect(list.numbers == (0..<count).filter { $0 % 3 != 0 })
        for number in 0..<count { list.remove(number) }
        #expect(list.isEmpty)
    }

    @Test func `to remove an element compares few, however many there are`() {
        let comparisons = Comparisons()
        var list = RemovableList<Counted>()
        for number in 0..<1000 { list.append(Counted(id: Counted.ID(number: number, comparisons: comparisons))) }
        comparisons.count = 0
        for number in 0..<1000 { list.remove(Counted.ID(number: number, comparisons: comparisons)) }
        // A search of all would take 500,000 for the one order or the other.
        #expect(comparisons.count < 20_000)
    }
}

private struct Numbered: Identifiable {
    let id: Int
}

extension RemovableList<Numbered> {
    fileprivate var numbers: [Int] {
        var numbers: [Int] = []
        forEach { numbers.append($0.id) }
        #expect(filter { _ in true }.count == numbers.count)
        return numbers
    }
}

private final class Comparisons {
    var count = 0
}

private struct Counted: Identifiable {
    struct ID: Hashable {
        let number: Int
        let comparisons: Comparisons

        static func == (a: ID, b: ID) -> Bool {
            a.comparisons.count += 1
            return a.number == b.number
        }

        func hash(into hasher: inout Hasher) { hasher.combine(number) }
    }

    let id: ID
}
