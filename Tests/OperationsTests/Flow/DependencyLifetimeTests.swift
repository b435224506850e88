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
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct DependencyLifetimeTests {
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

    #if DEBUG
    @Test func `a notification finds the word of an operation whose deinit may run`() {
        #expect(Operation.isWordInPlace)
    }
    #endif

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
    @Test(.tags(.threads)) func `dependents released while their dependency finishes cause no crash`() {
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
        for _ in 0..<Stress.rounds(100_000, least: 10_000) { BlockOperation {}.addDependency(dependency) }
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
        #expect(dependency.dependents.count <= 64)
        dependency.start()
        #expect(often.isReady)
    }

    /// Rule D6: the newest dependent is never a released one.
    @Test(arguments: [1, 20, 500])
    func `a dependency forgets released dependents under others that are kept`(kept: Int) {
        let dependency = BlockOperation {}
        var window: [Operation] = []
        for _ in 0..<20_000 {
            let dependent = BlockOperation {}
            dependent.addDependency(dependency)
            window.append(dependent)
            if window.count > kept { window.removeFirst() }
        }
        #expect(dependency.dependents.count <= 64 + 4 * kept)
        dependency.start()
        #expect(window.allSatisfy { $0.isReady })
        #expect(dependency.dependents.count == 0)
    }

    /// The finisher of a dependency reads the word of a dependent whose `deinit` may run.
    @Test func `the word is the first aligned property of an operation`() {
        let operation = BlockOperation {}
        let other = Operation.word(of: .passUnretained(operation))
        #expect(other.pointee.lifecycle == operation.word.lifecycle)
        operation.word.insert(.hasWaiters)
        #expect(other.pointee.lifecycle.contains(.hasWaiters))
        let isSame = withUnsafePointer(to: operation.word) { $0 == other }
        #expect(isSame)
    }
    #endif

    /// Rule D3: no growth either.
    @Test func `a dependency that is added often counts once, before and after it is listed`() {
        let (first, second) = (BlockOperation {}, BlockOperation {})
        let operation = BlockOperation {}
        for _ in 0..<Stress.rounds(100_000, least: 10_000) {
            operation.addDependency(first)
            operation.addDependency(second)
        }
        #expect(operation.dependencies == [first, second])
        operation.addDependency(first)
        #expect(operation.dependencies == [first, second])
        first.start()
        #expect(!operation.isReady)
        second.start()
        #expect(operation.isReady)
    }

    /// In a process of its own: other tests of this process lend priorities, and then no edge is added without a lock.
    @Test func `a dependency that was added often is released with its dependent`() async {
        await #expect(processExitsWith: .success) {
            for isListed in [false, true] {
                let gone: Weak
                do {
                    let (dependency, operation) = (BlockOperation {}, BlockOperation {})
                    gone = Weak(dependency)
                    for _ in 0..<3 { operation.addDependency(dependency) }
                    if isListed { precondition(operation.dependencies == [dependency]) }
                    dependency.start()
                    operation.start()
                }
                precondition(gone.isGone, "\(isListed)")
            }
        }
    }

    /// Rule D4.
    @Test(arguments: [false, true])
    func `removing a dependency that was added often undoes all additions`(isListed: Bool) {
        let (first, second) = (BlockOperation {}, BlockOperation {})
        let operation = BlockOperation {}
        for dependency in [first, second, first, second, first] { operation.addDependency(dependency) }
        if isListed { #expect(operation.dependencies == [first, second]) }
        operation.removeDependency(first)
        #expect(operation.dependencies == [second])
        #expect(!operation.isReady)
        operation.removeDependency(second)
        #expect(operation.isReady)
        operation.addDependency(first)
        #expect(!operation.isReady)
        first.start()
        #expect(operation.isReady && operation.dependencies == [first])
    }

    /// Rule D6: neither the removal nor the release of one side needs the other side.
    @Test func `a removed dependency is released at once, and its dependent has no trace of it`() {
        let operation = BlockOperation {}
        for count in 1...40 {
            let dependencies = (0..<count).map { _ in BlockOperation {} }
            for dependency in dependencies { operation.addDependency(dependency) }
            var watched = dependencies.map { Weak($0) }
            for dependency in dependencies { operation.removeDependency(dependency) }
            #expect(operation.isReady)
            watched.removeLast()
            #expect(operation.dependencies.isEmpty)
        }
        weak var released: Operation?
        do {
            let dependency = BlockOperation {}
            operation.addDependency(dependency)
            operation.removeDependency(dependency)
            released = dependency
        }
        #expect(released == nil)
    }

    /// Rule D6.
    @Test func `every second operation of a chain is released in the middle`() {
        var operations: [Operation?] = (0..<1000).map { _ in BlockOperation {} }
        for (operation, next) in zip(operations, operations.dropFirst()) { next!.addDependency(operation!) }
        let ends = operations.map { Weak($0) }
        for index in operations.indices where index % 2 == 1 {
            operations[index]!.removeDependency(operations[index - 1]!)
            operations[index - 1] = nil
        }
        #expect(ends.indices.allSatisfy { ends[$0].isGone == ($0 % 2 == 0) })
        operations[1]!.start()
        operations = []
        #expect(ends.allSatisfy { $0.isGone })
    }

    /// Rule D8.
    @Test(.tags(.slow))
    func `a very long chain of operations that never run is released without overflowing the stack`() {
        var last = BlockOperation {}
        for _ in 0..<Stress.rounds(1_000_000, least: 30_000) {
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
    @Test(.tags(.slow), arguments: Order.allCases)
    func `a chain runs in order and is released, regardless of the order of adding`(order: Order) async {
        #if DEBUG
        let length = Stress.rounds(100_000, least: 5_000)
        #else
        let length = Stress.rounds(1_000_000, least: 100_000)
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
    @Test(.tags(.slow)) func `very many dependents, half of which are released, become ready in one step`() {
        let count = Stress.rounds(1_000_000, least: 50_000)
        let root = BlockOperation {}
        var dependents: [Operation] = []
        for index in 0..<count {
            let dependent = BlockOperation {}
            dependent.addDependency(root)
            if index % 2 == 0 { dependents.append(dependent) }
        }
        #expect(!dependents.contains { $0.isReady })
        root.start()
        #expect(dependents.allSatisfy { $0.isReady })
    }

    /// Rule D10.
    @Test(.tags(.slow), arguments: [false, true])
    func `a very large fan runs between its root and its sink`(isRootLast: Bool) {
        let queue = OperationQueue()
        let count = Atomic<Int>(0)
        let width = Stress.rounds(100_000, small: 3_000)
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
