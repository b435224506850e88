import KeyValueObserving
import TestSupport
import Testing

/// The changes of collections have the elements concerned, as on Apple's systems.
struct CollectionTests {
    private let shelf = Shelf()
    private let log = Journal<String>()

    private func observing(_ body: () -> Void) -> [String] {
        let tokens = [
            shelf.observe(\.books, options: [.old, .new, .prior]) { [log] in log.append(words($1)) },
            shelf.observe(\.tags, options: [.old, .new]) { [log] in log.append(words($1)) },
        ]
        body()
        for token in tokens { token.invalidate() }
        return log.entries
    }

    @Test func `the change of an insertion has the new elements and no old elements`() {
        let calls = observing { shelf.change(.insertion, at: [1]) { $0.insert(9, at: 1) } }
        #expect(calls == ["prior insertion nil nil", "insertion nil [9]"])
    }

    @Test func `the change of a removal has the old elements, before and after it`() {
        let calls = observing { shelf.change(.removal, at: [0, 2]) { $0 = [2] } }
        #expect(calls == ["prior removal [1, 3] nil", "removal [1, 3] nil"])
    }

    @Test func `the change of a replacement has the old and the new elements`() {
        let calls = observing { shelf.change(.replacement, at: [1]) { $0[1] = 7 } }
        #expect(calls == ["prior replacement [2] nil", "replacement [2] [7]"])
    }

    @Test func `positions outside of the collection are ignored`() {
        let calls = observing { shelf.change(.removal, at: [2, 5]) { $0.removeLast() } }
        #expect(calls == ["prior removal [3] nil", "removal [3] nil"])
    }

    @Test func `the change of a set has the added and the removed elements`() {
        let calls = observing {
            shelf.mutate(.union, [2, 3]) { $0.formUnion([2, 3]) }
            shelf.mutate(.minus, [1]) { $0.subtract([1]) }
            shelf.mutate(.intersect, [3]) { $0.formIntersection([3]) }
            shelf.mutate(.set, [4]) { $0 = [4] }
        }
        #expect(calls == ["insertion nil [3]", "removal [1] nil", "removal [2] nil", "replacement [3] [4]"])
    }

    @Test func `an observer of old values alone receives the removed elements of a set, before and after the change`() {
        let token = shelf.observe(\.tags, options: [.old, .prior]) { [log] in log.append(words($1)) }
        shelf.mutate(.union, [2, 3, 4]) { $0.formUnion([2, 3, 4]) }
        shelf.mutate(.minus, [1, 9]) { $0.subtract([1, 9]) }
        shelf.mutate(.intersect, [3, 4]) { $0.formIntersection([3, 4]) }
        shelf.mutate(.set, [4, 5]) { $0 = [4, 5] }
        token.invalidate()
        let changes = ["insertion nil nil", "removal [1] nil", "removal [2] nil", "replacement [3] nil"]
        #expect(log.entries == changes.flatMap { ["prior \($0)", $0] })
    }

    @Test func `an announced insertion does not copy the array`() {
        func check<Object: KeyValueObservable>(_ object: Object, _ path: ReferenceWritableKeyPath<Object, [Int]>) {
            let log = Journal<String>()
            let token = object.observe(path, options: [.old, .new, .prior]) { log.append(words($1)) }
            func place() -> Int { object[keyPath: path].withUnsafeBufferPointer { Int(bitPattern: $0.baseAddress) } }
            object.change(.insertion, at: [3], of: path) { array in
                array.reserveCapacity(100)
                array.append(4)
            }
            let before = place()
            object.change(.insertion, at: [4], of: path) { $0.append(5) }
            #expect(place() == before)
            token.invalidate()
            let values = ["nil nil", "nil [4]", "nil nil", "nil [5]"]
            #expect(log.entries == zip(["prior ", "", "prior ", ""], values).map { "\($0)insertion \($1)" })
        }
        check(shelf, \.books)
        check(Diary(), \.entries)
    }

    @Test func `the old value after a change of elements is the whole collection`() {
        let token = shelf.observe(\.shared, options: [.old, .new]) { [log] in log.append(words($1)) }
        let neighbour = Shelf()
        shelf.neighbour = neighbour
        shelf.change(.insertion, at: [3], of: \.shared) { $0.append(4) }
        neighbour.mutate(.minus, [1]) { $0.subtract([1]) }
        token.invalidate()
        #expect(
            log.entries == ["setting [1, 2, 3] [1, 2, 3]", "insertion nil [4]", "setting [1, 2, 3, 4] [1, 2, 3, 4]"])
    }

    @Test func `mutations of a set are announced by name as well`() {
        let calls = observing {
            shelf.willChangeValue(forKey: "tags", withSetMutation: .union, using: [8])
            shelf.tags.insert(8)
            shelf.didChangeValue(forKey: "tags", withSetMutation: .union, using: [8])
        }
        #expect(calls == ["insertion nil [8]"])
    }
}

private func words<Value>(_ change: NSKeyValueObservedChange<Value>) -> String {
    let values = [change.oldValue, change.newValue].map { $0.map { "\($0)" } ?? "nil" }
    return (change.isPrior ? "prior " : "") + "\(change.kind) " + values.joined(separator: " ")
}

extension KeyValueObservable {
    fileprivate func change(
        _ kind: NSKeyValueChange, at places: [Int], of path: ReferenceWritableKeyPath<Self, [Int]>,
        _ body: (inout [Int]) -> Void
    ) {
        let places = RangeSet(places.map { $0..<$0 + 1 })
        willChange(kind, valuesAt: places, for: path)
        body(&self[keyPath: path])
        didChange(kind, valuesAt: places, for: path)
    }
}

/// A class without registered properties.
private final class Diary: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    var entries = [1, 2, 3]
}

private final class Shelf: KeyValueObservable {
    let keyValueRegistrar = KeyValueRegistrar()
    var books = [1, 2, 3]
    var shared = [1, 2, 3]
    var tags: Set = [1, 2]
    @KeyValueObserved var neighbour: Shelf?

    static var keyValueKeys: [KeyValueKey] {
        [
            KeyValueKey("books", \Shelf.books), KeyValueKey("tags", \Shelf.tags),
            KeyValueKey("neighbour", \Shelf.neighbour),
            KeyValueKey("shared", \Shelf.shared, affectedBy: ["neighbour.tags"]),
        ]
    }

    func change(_ kind: NSKeyValueChange, at places: [Int], _ body: (inout [Int]) -> Void) {
        change(kind, at: places, of: \.books, body)
    }

    func mutate(_ mutation: NSKeyValueSetMutationKind, _ set: Set<Int>, _ body: (inout Set<Int>) -> Void) {
        willChangeValue(for: \.tags, withSetMutation: mutation, using: set)
        body(&tags)
        didChangeValue(for: \.tags, withSetMutation: mutation, using: set)
    }
}
