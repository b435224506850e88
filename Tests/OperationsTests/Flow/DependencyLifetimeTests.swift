#if DEBUG
@testable import Operations
#else
import Operations
#endif
import SchedulerCore
import Synchronization
import TestSupport
import Testing

/// Rules D6, D8, D10: early releases, deep chains, wide fans.
@Suite(.timeLimit(.minutes(5))) struct DependencyLifetimeTests {
    /// Rule D6.
    @Test func `a dependent may be released before its dependency finishes`() {
        let dependency = BlockOperation {}
        weak var released: Operation?
        do {
            let dependent = BlockOperation {}
            dependent.addDependency(dependency)
            released = dependent
        }
        #expect(released == nil)
        dependency.start()
        #expect(dependency.isFinished)
    }

    /// Rule D6.
    @Test func `a dependency that is never started is kept alive only by its dependent`() {
        weak var released: Operation?
        do {
            let dependent = BlockOperation {}
            do {
                let dependency = BlockOperation {}
                dependent.addDependency(dependency)
                released = dependency
            }
            #expect(released != nil)
        }
        #expect(released == nil)
    }

    /// Rule D6.
    @Test func `dependents released while their dependency finishes cause no crash`() {
        let queue = OperationQueue()
        for _ in 0..<2000 {
            let dependency = BlockOperation {}
            var dependents: [Operation] = (0..<8).map { _ in
                let dependent = BlockOperation {}
                dependent.addDependency(dependency)
                return dependent
            }
            queue.addOperation(dependency)
            while !dependents.isEmpty { dependents.removeLast() }
        }
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule D6: a long-lived operation remembers a bounded number of released dependents.
    @Test func `a dependency forgets released dependents`() {
        let dependency = BlockOperation {}
        for _ in 0..<100_000 { BlockOperation {}.addDependency(dependency) }
        let last = BlockOperation {}
        last.addDependency(dependency)
        dependency.start()
        #expect(last.isReady)
    }

    #if DEBUG
    /// Rules D4 and D6.
    @Test func `a dependency remembers no released dependent, and no dependent twice`() {
        let (dependency, often) = (BlockOperation {}, BlockOperation {})
        for _ in 0..<1000 {
            BlockOperation {}.addDependency(dependency)
            often.addDependency(dependency)
            often.removeDependency(dependency)
        }
        often.addDependency(dependency)
        #expect(dependency.attachments?.withLock { $0.dependents.count } ?? 0 <= 64)
        dependency.start()
        #expect(often.isReady)
    }
    #endif

    /// Rule D8.
    @Test func `a chain of a million operations that never run is released without overflowing the stack`() {
        var last = BlockOperation {}
        for _ in 0..<1_000_000 {
            let next = BlockOperation {}
            next.addDependency(last)
            last = next
        }
        let end = Weak(last)
        last = BlockOperation {}
        #expect(end.isGone)
    }

    enum Order: CaseIterable { case forward, backward, shuffled }

    /// Rules D8, D10. Debug builds run a tenth of it, which is enough to show quadratic time.
    @Test(arguments: Order.allCases)
    func `a chain runs in order and is released, regardless of the order of adding`(order: Order) async {
        #if DEBUG
        let length = 100_000
        #else
        let length = 1_000_000
        #endif
        let queue = OperationQueue()
        let position = Atomic<Int>(0)
        let isInOrder = Atomic<Bool>(true)
        let end: Weak
        do {
            var chain: [BlockOperation] = []
            for i in 0..<length {
                let operation = BlockOperation {
                    if position.wrappingAdd(1, ordering: .relaxed).oldValue != i {
                        isInOrder.store(false, ordering: .relaxed)
                    }
                }
                if let last = chain.last { operation.addDependency(last) }
                chain.append(operation)
            }
            end = Weak(chain[length - 1])
            switch order {
            case .forward: for operation in chain { queue.addOperation(operation) }
            case .backward: for operation in chain.reversed() { queue.addOperation(operation) }
            case .shuffled:
                var random = SeededRandom(seed: 7)
                for operation in chain.shuffled(using: &random) { queue.addOperation(operation) }
            }
            await queue.waitUntilAllOperationsAreFinished()
        }
        let ran = position.load(ordering: .relaxed)
        #expect(ran == length)
        let wasInOrder = isInOrder.load(ordering: .relaxed)
        #expect(wasInOrder)
        await end.goes()
        #expect(end.isGone)
    }

    /// Rule D10.
    @Test(arguments: [false, true])
    func `a fan of a hundred thousand runs between its root and its sink`(isRootLast: Bool) {
        let queue = OperationQueue()
        let count = Atomic<Int>(0)
        let width = 100_000
        let log = Journal<Int>()
        let root = BlockOperation { log.append(count.load(ordering: .relaxed)) }
        let sink = BlockOperation { log.append(count.load(ordering: .relaxed)) }
        if !isRootLast { queue.addOperation(root) }
        for _ in 0..<width {
            let operation = BlockOperation { count.wrappingAdd(1, ordering: .relaxed) }
            operation.addDependency(root)
            sink.addDependency(operation)
            queue.addOperation(operation)
        }
        if isRootLast { queue.addOperation(root) }
        queue.addOperation(sink)
        queue.waitUntilAllOperationsAreFinished()
        #expect(sink.isFinished)
        #expect(log.entries == [0, width])
    }
}
