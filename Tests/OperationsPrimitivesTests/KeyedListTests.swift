import TestSupport
import Testing

@testable import OperationsPrimitives

@Suite struct KeyedListTests {
    /// Addresses of records of 48 bytes, as the allocator returns them.
    private func keys(_ count: Int) -> [UInt] { (0..<UInt(count)).map { 0x7F00_0000_0010 + $0 * 48 } }

    private func list(_ keys: [UInt]) -> KeyedList<UInt> {
        var list = KeyedList<UInt>()
        for key in keys where !list.add(key + 1, key: key) { Issue.record("\(key) was there") }
        return list
    }

    private func elements(_ keys: [UInt]) -> [UInt] { keys.map { $0 + 1 } }

    @Test(arguments: [0, 1, 8, 9, 100, 1000])
    func `elements keep the order in which they were added, and are found`(count: Int) {
        let all = keys(count)
        let list = list(all)
        #expect(list.elements == elements(all))
        #expect(list.count == count)
        for key in all where list.element(of: key) != key + 1 { Issue.record("\(key) is not found") }
        #expect(list.element(of: 16) == nil)
    }

    @Test(arguments: [1, 8, 9, 100])
    func `an element that is added twice is there once, in its first place`(count: Int) {
        let all = keys(count)
        var list = list(all)
        for key in all { #expect(list.add(0, key: key) == false) }
        #expect(list.elements == elements(all))
    }

    @Test func `removing returns the element, and nil for an unknown key`() {
        let all = keys(3)
        var list = list(all)
        #expect(list.remove(all[1]) == all[1] + 1)
        #expect(list.remove(all[1]) == nil)
        #expect(list.remove(16) == nil)
        #expect(list.elements == elements([all[0], all[2]]))
        #expect(list.count == 2)
    }

    @Test(arguments: [8, 9, 30, 100])
    func `a removed element does not move the others, and returns at the end`(count: Int) {
        let all = keys(count)
        var list = list(all)
        for index in all.indices where index % 3 != 0 { #expect(list.remove(all[index]) == all[index] + 1) }
        let kept = all.indices.filter { $0 % 3 == 0 }.map { all[$0] }
        #expect(list.elements == elements(kept))
        for key in kept { #expect(list.add(0, key: key) == false, "it is still found") }
        #expect(list.add(all[1] + 1, key: all[1]) == true)
        #expect(list.elements == elements(kept + [all[1]]))
    }

    @Test(arguments: [6, 20, 200])
    func `holes stay in the minority regardless of the number of additions and removals`(count: Int) {
        let all = keys(count)
        var list = list(all)
        for round in 0..<10_000 {
            _ = list.remove(all[round % count])
            _ = list.add(all[round % count] + 1, key: all[round % count])
        }
        #expect(list.count == count)
        #expect(list.entries.count <= 2 * count + 10)
        #expect(list.slots.count <= 16 * count + 160)
    }

    @Test func `many elements are found and removed without a walk`() {
        let all = keys(50_000)
        var list = list(all)
        for key in all.reversed() where list.element(of: key) == nil { Issue.record("it was not there") }
        for key in all where list.remove(key) == nil { Issue.record("it was not there") }
        #expect(list.elements.isEmpty)
        #expect(list.entries.count <= 9)
        #expect(list.slots.isEmpty)
    }

    @Test(arguments: UInt64(1)...60)
    func `a keyed list behaves like a plain list`(seed: UInt64) throws {
        var generator = SeededRandom(seed: seed)
        let pool = keys([6, 12, 40][Int(seed % 3)])
        var list = KeyedList<Int>()
        var model: [(key: UInt, element: Int)] = []
        for step in 0..<400 {
            let key = generator.pick(pool)
            let place = model.firstIndex { $0.key == key }
            switch generator.below(100) {
            case 0..<55:
                #expect(list.add(step, key: key) == (place == nil))
                if place == nil { model.append((key, step)) }
            case 55..<70:
                #expect(list.element(of: key) == place.map { model[$0].element })
            default:
                #expect(list.remove(key) == place.map { model[$0].element })
                if let place { model.remove(at: place) }
            }
            try #require(list.elements == model.map(\.element), "seed \(seed)")
            try #require(list.count == model.count)
        }
    }
}
