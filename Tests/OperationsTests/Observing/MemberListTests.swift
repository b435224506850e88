import KeyValueObserving
import TestSupport
import Testing

@testable import Operations

/// Rules K1 and K2: the lists that observers of `operations` receive, and their cost.
@Suite(.timeLimit(.minutes(2)), .tags(.threads)) struct MemberListTests {
    typealias Op = Operations.Operation

    /// Notes the lists that it receives, by the addresses of the operations.
    private final class Lists: KeyValueObserver, Sendable {
        let entries = Journal<(isPrior: Bool, old: [ObjectIdentifier]?, new: [ObjectIdentifier]?)>()
        let isComplete: Gate

        init(_ calls: Int) { isComplete = Gate(calls) }

        func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) {
            func list(_ key: NSKeyValueChangeKey) -> [ObjectIdentifier]? {
                (change?[key] as? [Op])?.map(ObjectIdentifier.init)
            }
            entries.append((change?[.notificationIsPriorKey] != nil, list(.oldKey), list(.newKey)))
            isComplete.open()
        }
    }

    @Test func `consecutive lists match with several adders, cancellations and keys`() {
        let (queue, lists) = (OperationQueue(), Lists(800))
        queue.setLimitPerKey(1)
        queue.addObserver(lists, forKeyPath: "operations", options: [.old, .new], context: nil)
        let adders = (0..<4).map { number in
            TestThread {
                for round in 0..<100 {
                    let operation = BlockOperation {}
                    if round % 3 == 0 {
                        queue.addOperation(operation, limitKey: "\(number % 2)")
                    } else {
                        queue.addOperation(operation)
                    }
                    if round % 7 == 0 { operation.cancel() }
                }
            }
        }
        for adder in adders { adder.join() }
        queue.waitUntilAllOperationsAreFinished()
        lists.isComplete.pass()
        let entries = lists.entries.entries
        #expect(entries.count == 800)
        #expect(entries.first?.old?.isEmpty == true && entries.last?.new?.isEmpty == true)
        #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.new == $1.old })
        let isStep = entries.allSatisfy { entry in
            guard let old = entry.old, let new = entry.new, abs(old.count - new.count) == 1 else { return false }
            let (shorter, longer) = old.count < new.count ? (old, new) : (new, old)
            // An operation that joins is the last. One that leaves does not change the order of the others.
            if old.count < new.count { return Array(new.dropLast()) == old }
            return longer.filter(Set(shorter).contains) == shorter
        }
        #expect(isStep)
    }

    @Test func `the call before a change has the earlier list, and every observer gets the values that it requests`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let (first, second) = (BlockOperation {}, BlockOperation {})
        let all: [NSKeyValueObservingOptions] = [[], .old, .new, [.old, .new, .prior]]
        let lists = all.map { _ in Lists(0) }
        for (options, observer) in zip(all, lists) {
            queue.addObserver(observer, forKeyPath: "operations", options: options, context: nil)
        }
        queue.addOperations([first, second], waitUntilFinished: false)
        let (one, two) = ([ObjectIdentifier(first)], [ObjectIdentifier(first), ObjectIdentifier(second)])
        func notified(_ index: Int) -> [String] {
            lists[index].entries.entries.map { entry in
                let names = [entry.old, entry.new].map { list in
                    guard let list else { return "nil" }
                    return list.isEmpty ? "[]" : list == one ? "[1]" : list == two ? "[1, 2]" : "?"
                }
                return "\(entry.isPrior ? "before " : "")\(names[0]) \(names[1])"
            }
        }
        #expect(notified(0) == ["nil nil", "nil nil"])
        #expect(notified(1) == ["[] nil", "[1] nil"])
        #expect(notified(2) == ["nil [1]", "nil [1, 2]"])
        #expect(notified(3) == ["before [] nil", "[] [1]", "before [1] nil", "[1] [1, 2]"])
        for observer in lists { queue.removeObserver(observer, forKeyPath: "operations") }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    @Test func `an observer that begins while operations come and go gets consecutive lists that match`() {
        let (queue, isOver) = (OperationQueue(), Guarded(false))
        let adder = TestThread {
            while !isOver.withLock({ $0 }) {
                for _ in 0..<10 { queue.addOperation {} }
                queue.waitUntilAllOperationsAreFinished()
            }
        }
        for _ in 0..<100 {
            let lists = Lists(10)
            queue.addObserver(lists, forKeyPath: "operations", options: [.initial, .old, .new], context: nil)
            lists.isComplete.pass()
            queue.removeObserver(lists, forKeyPath: "operations")
            // The first call has the list at some moment.
            let entries = lists.entries.entries.dropFirst()
            #expect(zip(entries, entries.dropFirst()).allSatisfy { $0.new == $1.old })
        }
        isOver.withLock { $0 = true }
        adder.join()
        queue.waitUntilAllOperationsAreFinished()
    }

    private func hasList(_ queue: OperationQueue) -> Bool {
        queue.state.withLock { $0.policies.first(MemberObserving.self)?.hasList == true }
    }

    @Test func `a queue keeps a list only while an observer asks for values, and its operations no longer`() async {
        let queue = OperationQueue()
        queue.isSuspended = true
        let counting = Lists(0)
        queue.addObserver(counting, forKeyPath: "operationCount", options: [.old, .new], context: nil)
        let plain = Lists(0)
        queue.addObserver(plain, forKeyPath: "operations", context: nil)
        queue.addOperation {}
        #expect(!hasList(queue) && plain.entries.entries.count == 1)
        let lists = Lists(0)
        queue.addObserver(lists, forKeyPath: "operations", options: .new, context: nil)
        queue.addOperation {}
        #expect(hasList(queue) && lists.entries.entries.last?.new?.count == 2)
        var operation: Op? = BlockOperation {}
        let weak = Weak(operation)
        queue.addOperation(operation!)
        queue.removeObserver(lists, forKeyPath: "operations")
        operation = nil
        queue.isSuspended = false
        await queue.waitUntilAllOperationsAreFinished()
        await weak.goes()
        #expect(!hasList(queue))
        queue.removeObserver(plain, forKeyPath: "operations")
        queue.removeObserver(counting, forKeyPath: "operationCount")
    }

    /// Removing the first element of an array moves all others, which would make this quadratic.
    @Test func `one thread notifies of very many changes in linear time`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let notified = Guarded(0)
        let counter = Counter(notified)
        queue.addObserver(counter, forKeyPath: "operations", context: nil)
        let count = Stress.rounds(20_000, least: 5_000)
        queue.addOperations((0..<count).map { _ in BlockOperation {} }, waitUntilFinished: false)
        #expect(notified.withLock { $0 } == count)
        queue.removeObserver(counter, forKeyPath: "operations")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    private final class Counter: KeyValueObserver, Sendable {
        let count: Guarded<Int>

        init(_ count: Guarded<Int>) { self.count = count }

        func observeValue(
            forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
            context: UnsafeMutableRawPointer?
        ) { count.withLock { $0 += 1 } }
    }
}
