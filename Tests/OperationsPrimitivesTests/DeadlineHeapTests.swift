import OperationsPrimitives
import TestSupport
import Testing

struct DeadlineHeapTests {
    @Test func `an empty heap has no due element`() {
        var heap = DeadlineHeap<Int>()
        #expect(heap.earliest == nil)
        #expect(heap.removeFirst(dueBy: .max) == nil)
    }

    @Test func `an element that is due later stays`() {
        var heap = DeadlineHeap<String>()
        heap.insert("late", at: 10)
        heap.insert("early", at: 5)
        #expect(heap.earliest == 5)
        #expect(heap.removeFirst(dueBy: 4) == nil)
        #expect(heap.removeFirst(dueBy: 5) == "early")
        #expect(heap.removeFirst(dueBy: 9) == nil)
        #expect(heap.removeFirst(dueBy: 10) == "late")
        #expect(heap.count == 0)
    }

    @Test(arguments: 0..<UInt64(Stress.rounds(50, least: 15)))
    func `elements leave by deadline, equal ones in the order they came`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var heap = DeadlineHeap<Int>()
        var model: [(deadline: UInt64, element: Int)] = []
        for element in 0..<1000 {
            if random.chance(2) {
                let divisor = random.below(5) + 2
                heap.removeAll { $0 % divisor == 0 }
                model.removeAll { $0.element % divisor == 0 }
            } else if random.below(3) < 2 {
                let deadline = UInt64(random.below(20))
                heap.insert(element, at: deadline)
                let place = model.firstIndex { $0.deadline > deadline } ?? model.count
                model.insert((deadline, element), at: place)
            } else {
                let now = UInt64(random.below(20))
                let due = model.first.flatMap { $0.deadline <= now ? $0.element : nil }
                if due != nil { model.removeFirst() }
                #expect(heap.removeFirst(dueBy: now) == due)
            }
            #expect(heap.earliest == model.first?.deadline)
            #expect(heap.count == model.count)
        }
    }
}
