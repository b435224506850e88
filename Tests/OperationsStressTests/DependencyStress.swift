import Operations
import Synchronization
import TestSupport
import Testing

/// Dependencies that are added, removed, finished and released by several threads at the same time.
@Suite(.onOwnThread, .timeLimit(.minutes(10)), .tags(.threads, .release, .slow)) struct DependencyStress {
    /// A subclass, which takes the long path of a notification.
    final class Long: Operation, @unchecked Sendable {
        override var isReady: Bool { super.isReady }
    }

    private static func make(_ isPlain: Bool) -> Operation { isPlain ? BlockOperation {} : Long() }

    /// Each dependent belongs to one thread, which compares its list with a plain list. The dependencies belong to all.
    @Test(arguments: UInt64(1)...4)
    func `dependencies equal a plain list while they finish, and hold exactly until they have finished`(seed: UInt64) {
        for round in 0..<UInt64(Stress.rounds(300)) {
            var random = SeededRandom(seed: seed &* 10_000 &+ round)
            let pool = (0..<random.pick([3, 12, 40])).map { _ in Self.make(random.chance(80)) }
            let order = pool.shuffled(using: &random)
            let seeds = (0..<2).map { _ in random.next() }
            let adders = seeds.map { seed in TestThread { check(pool, seed: seed) } }
            let finisher = TestThread { for dependency in order { dependency.start() } }
            for thread in adders + [finisher] { thread.join() }
        }
    }

    /// Several threads add and remove dependencies of the same operation.
    @Test(arguments: [true, false])
    func `an operation is ready after all of its dependencies have finished or were removed`(isPlain: Bool) {
        for round in 0..<UInt64(Stress.rounds(3_000)) {
            var random = SeededRandom(seed: round)
            let operation = Self.make(isPlain)
            let pool = (0..<random.pick([1, 2, 20])).map { _ in BlockOperation {} }
            let seeds = (0..<2).map { _ in random.next() }
            let isListed = random.chance(50)
            let changers = seeds.map { seed in
                TestThread {
                    var random = SeededRandom(seed: seed)
                    for _ in 0..<20 {
                        let dependency = random.pick(pool)
                        if random.chance(60) {
                            operation.addDependency(dependency)
                        } else {
                            operation.removeDependency(dependency)
                        }
                        if isListed { _ = operation.dependencies }
                    }
                }
            }
            let finisher = TestThread { for dependency in pool { dependency.start() } }
            for thread in changers + [finisher] { thread.join() }
            #expect(operation.isReady, "round \(round)")
            for dependency in pool { operation.removeDependency(dependency) }
            #expect(operation.isReady && operation.dependencies.isEmpty, "round \(round)")
        }
    }

    /// The last reference to a dependent goes while its dependencies notify it.
    @Test(arguments: [true, false])
    func `dependents are released while their dependencies finish`(isPlain: Bool) {
        for round in 0..<UInt64(Stress.rounds(3_000)) {
            var random = SeededRandom(seed: round)
            let dependencies = (0..<3).map { _ in BlockOperation {} }
            let dependents = Held()
            let ends = (0..<20).map { _ in
                let dependent = Self.make(isPlain)
                for _ in 0..<random.below(4) { dependent.addDependency(random.pick(dependencies)) }
                if random.chance(20) { _ = dependent.dependencies }
                dependents.operations.withLock { $0.append(dependent) }
                return Weak(dependent)
            }
            let releaser = TestThread { while dependents.operations.withLock({ $0.popLast() }) != nil {} }
            let finishers = dependencies.map { dependency in TestThread { dependency.start() } }
            for thread in finishers + [releaser] { thread.join() }
            #expect(ends.allSatisfy { $0.isGone }, "round \(round)")
        }
    }

    /// Sweeps of the dependents meet the end of the dependency.
    @Test func `a dependency finishes while many threads add dependents and release some`() {
        for round in 0..<Stress.rounds(1_000) {
            let dependency = BlockOperation {}
            let unready = Atomic<Int>(0)
            let adders = (0..<3).map { number in
                TestThread {
                    var random = SeededRandom(seed: UInt64(round * 10 + number))
                    var kept: [Operation] = []
                    for _ in 0..<100 {
                        let dependent = BlockOperation {}
                        dependent.addDependency(dependency)
                        if random.chance(40) { kept.append(dependent) }
                    }
                    let queue = OperationQueue()
                    queue.addOperations(kept, waitUntilFinished: true)
                    unready.wrappingAdd(kept.filter { !$0.isFinished }.count, ordering: .relaxed)
                }
            }
            let finisher = TestThread {
                for _ in 0..<(round % 50) * 20 { unready.wrappingAdd(0, ordering: .relaxed) }
                dependency.start()
            }
            for thread in adders + [finisher] { thread.join() }
            #expect(unready.load(ordering: .relaxed) == 0)
        }
    }

    private final class Held: Sendable {
        let operations = Mutex<[Operation]>([])
    }
}

/// Adds and removes dependencies of an operation of this thread, in no queue and then in a queue.
private func check(_ pool: [Operation], seed: UInt64) {
    var random = SeededRandom(seed: seed)
    let queue = OperationQueue()
    for _ in 0..<6 {
        let operation = BlockOperation {}
        var model: [Operation] = []
        let isQueued = random.chance(50)
        if isQueued {
            queue.isSuspended = true
            queue.addOperation(operation)
        }
        for _ in 0..<40 {
            let dependency = random.pick(pool)
            switch random.below(10) {
            case 0..<6:
                operation.addDependency(dependency)
                if !model.contains(where: { $0 === dependency }) { model.append(dependency) }
            case 6..<9:
                operation.removeDependency(dependency)
                model.removeAll { $0 === dependency }
            default:
                let listed = operation.dependencies
                #expect(listed.elementsEqual(model) { $0 === $1 }, "seed \(seed)")
            }
            // A finished dependency has notified or is about to. An unfinished one holds.
            if !operation.isReady || model.allSatisfy({ $0.isFinished }) { continue }
            let unfinished = model.filter { !$0.isFinished }
            #expect(unfinished.isEmpty, "seed \(seed): ready with an unfinished dependency")
        }
        let listed = operation.dependencies
        #expect(listed.elementsEqual(model) { $0 === $1 }, "seed \(seed)")
        if !isQueued { queue.addOperation(operation) }
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isFinished && model.allSatisfy { $0.isFinished })
    }
}
