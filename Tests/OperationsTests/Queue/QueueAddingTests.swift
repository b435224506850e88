#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif
@testable import Operations
import Synchronization
import TestSupport
import Testing

/// Rules Q1, Q2 and Q11: adding, and the lifetime of queues and operations.
@Suite(.timeLimit(.minutes(5)), .tags(.release)) struct QueueAddingTests {
    /// Rule Q1.
    @Test func `operations added in each of three ways run`() {
        let (queue, log) = (OperationQueue(), Journal<Int>())
        queue.maxConcurrentOperationCount = 1
        queue.addOperation(BlockOperation { log.append(1) })
        queue.addOperations(
            [BlockOperation { log.append(2) }, BlockOperation { log.append(3) }], waitUntilFinished: false)
        queue.addOperation { log.append(4) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [1, 2, 3, 4])
    }

    /// Rule Q1.
    @Test func `a subclass that overrides the addition of operations sees closures`() {
        final class Counting: OperationQueue, @unchecked Sendable {
            let additions = Atomic64()
            override func addOperation(_ op: Operation) {
                additions.add(1)
                super.addOperation(op)
            }
        }
        let (queue, runs) = (Counting(), Atomic64())
        for _ in 0..<3 { queue.addOperation { runs.add(1) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.additions.value == 3)
        #expect(runs.value == 3)
    }

    /// Rule Q1.
    @Test func `closures that are added to a suspended queue keep it alive, and run when it is resumed`() throws {
        let runs = Atomic64()
        weak var queue: OperationQueue?
        do {
            let new = OperationQueue()
            new.isSuspended = true
            for _ in 0..<100 { new.addOperation { runs.add(1) } }
            queue = new
        }
        let kept = try #require(queue)
        kept.isSuspended = false
        kept.waitUntilAllOperationsAreFinished()
        #expect(runs.value == 100)
    }

    /// Rule Q1.
    @Test func `adding a batch and waiting returns when all are finished`() {
        let (queue, runs) = (OperationQueue(), Atomic64())
        let operations = (0..<50).map { _ in BlockOperation { runs.add(1) } }
        queue.addOperations(operations, waitUntilFinished: true)
        #expect(runs.value == 50)
        #expect(queue.snapshot.countedOperations == 0)
    }

    /// Rule Q1.
    @Test func `a batch may be empty`() {
        let queue = OperationQueue()
        queue.addOperations([], waitUntilFinished: true)
        #expect(queue.snapshot.countedOperations == 0)
    }

    /// Rule Q1.
    @Test func `adding a batch without waiting returns while it waits`() {
        let held = HeldQueue()
        let operation = Operation()
        held.queue.addOperations([operation], waitUntilFinished: false)
        #expect(!operation.isFinished)
        held.release()
    }

    /// Rule Q1.
    @Test func `the queue keeps an operation until it is finished, and releases it then`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let gone = Gate()
        let operation = addWatched(to: queue, gone)
        #expect(!operation.isGone)
        queue.isSuspended = false
        gone.pass()
        queue.waitUntilAllOperationsAreFinished()
        #expect(operation.isGone)
    }

    private func addWatched(to queue: OperationQueue, _ gone: Gate) -> Weak {
        let operation = WatchedOperation(gone)
        queue.addOperation(operation)
        return Weak(operation)
    }

    /// Rule Q1.
    @Test func `the queue lives while it holds operations and is freed after`() {
        let (gone, dependency, runs) = (Gate(), Operation(), Atomic64())
        let queue = addToWatchedQueue(gone, dependency, runs)
        #expect(!queue.isGone)
        #expect(runs.value == 0)
        dependency.start()
        gone.pass()
        #expect(runs.value == 10)
    }

    private func addToWatchedQueue(
        _ gone: Gate, _ dependency: Operations.Operation, _ runs: Atomic64
    ) -> Weak {
        let queue = WatchedQueue(gone)
        for _ in 0..<10 {
            let operation = BlockOperation { runs.add(1) }
            operation.addDependency(dependency)
            queue.addOperation(operation)
        }
        return Weak(queue)
    }

    /// Rule Q1: a barrier keeps the queue as well.
    @Test func `a queue without references runs its operations and is released`() {
        for width in [1, 2, OperationQueue.defaultMaxConcurrentOperationCount] {
            let (gone, runs) = (Gate(), Atomic64())
            do {
                let queue = WatchedQueue(gone)
                queue.maxConcurrentOperationCount = width
                for _ in 0..<20 { queue.addOperation { runs.add(1) } }
                queue.addBarrierBlock { runs.add(100) }
            }
            gone.pass()
            #expect(runs.value == 120)
        }
    }

    /// Rule Q1: with threads that belong to Dispatch too.
    @Test func `a queue that was never used is freed`() {
        let gone = Gate()
        _ = WatchedQueue(gone)
        gone.pass()
    }

    /// Rules Q1, M2.
    @Test func `an operation is in at most one queue`() {
        let (first, second) = (OperationQueue(), OperationQueue())
        first.isSuspended = true
        let operation = Operation()
        first.addOperation(operation)
        for queue in [first, second] {
            #expect(throws: OperationError.alreadyInQueue(operation: operation.queueTestLabel)) {
                try queue.tryAddOperation(operation)
            }
        }
        #expect(first.snapshot.countedOperations == 1)
        #expect(second.snapshot.countedOperations == 0)
        first.isSuspended = false
        operation.waitUntilFinished()
    }

    /// Rule Q2: for each place of the invalid operation in the batch, and for each kind of error.
    @Test(arguments: [0, 1, 2]) func `a batch with an invalid operation is not added at all`(place: Int) throws {
        let (queue, other) = (OperationQueue(), OperationQueue())
        other.isSuspended = true
        let (finished, queued) = (Operation(), Operation())
        finished.start()
        other.addOperation(queued)
        for (invalid, error) in [
            (finished, OperationError.addedAfterFinish(operation: finished.queueTestLabel)),
            (queued, .alreadyInQueue(operation: queued.queueTestLabel)),
        ] {
            let valid = [Operation(), Operation()]
            var batch = valid
            batch.insert(invalid, at: place)
            #expect(throws: error) { try queue.tryAddOperations(batch, waitUntilFinished: false) }
            #expect(queue.snapshot.countedOperations == 0)
            #expect(valid.allSatisfy { !$0.isFinished })
            // The operations can be used like new ones.
            try queue.tryAddOperations(valid, waitUntilFinished: true)
        }
        other.isSuspended = false
        queued.waitUntilFinished()
    }

    /// Rule Q2.
    @Test func `a batch that names an operation twice is not added at all`() throws {
        let (queue, operation, other) = (OperationQueue(), Operation(), Operation())
        #expect(throws: OperationError.alreadyInQueue(operation: operation.queueTestLabel)) {
            try queue.tryAddOperations([operation, other, operation], waitUntilFinished: false)
        }
        #expect(queue.snapshot.countedOperations == 0)
        try queue.tryAddOperations([operation, other], waitUntilFinished: true)
    }

    /// Rules Q2, D9: a dependency that finishes while the batch is refused is not forgotten.
    @Test func `an operation of a refused batch can be added later and follows its dependencies`() throws {
        let (queue, finished, dependency) = (OperationQueue(), Operation(), Operation())
        finished.start()
        let operation = Operation()
        operation.addDependency(dependency)
        #expect(throws: OperationError.self) {
            try queue.tryAddOperations([operation, finished], waitUntilFinished: false)
        }
        queue.addOperation(operation)
        #expect(!operation.isFinished)
        dependency.start()
        operation.waitUntilFinished()
    }

    /// Rule Q11.
    @Test func `a serial queue runs in order of adding, singly and in batches`() {
        let (queue, log) = (OperationQueue(), Journal<Int>())
        queue.maxConcurrentOperationCount = 1
        for i in 0..<200 { queue.addOperation { log.append(i) } }
        queue.addOperations((200..<400).map { i in BlockOperation { log.append(i) } }, waitUntilFinished: false)
        for i in 400..<600 { queue.addOperation { log.append(i) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == Array(0..<600))
    }

    /// Rule Q1: in a separate process, where no other code wakes the thread, which sleeps forever.
    @Test func `a sleeping thread holds no queue`() async {
        await #expect(processExitsWith: .success) {
            WorkerPool.idleSeconds.store(1_000_000, ordering: .relaxed)
            // No other code ends a process that waits in vain.
            alarm(240)
            let released = Gate()
            WatchedQueue(released).addOperation {}
            released.pass()
        }
    }

    @Test func `a queue, a block and an addition take a name`() {
        let queue = OperationQueue(name: "work", maxConcurrentOperationCount: 1)
        #expect(queue.name == "work" && queue.maxConcurrentOperationCount == 1)
        #expect(
            OperationQueue(name: "other").maxConcurrentOperationCount
                == OperationQueue.defaultMaxConcurrentOperationCount)
        queue.isSuspended = true
        let order = Journal<String>()
        let last = BlockOperation(name: "last") { order.append("last") }
        let first = queue.addOperation(name: "first", priority: .low) { order.append("first") }
        let second = queue.addOperation(name: "second", priority: .high, after: [first]) { order.append("second") }
        last.addDependency(second)
        queue.addOperation(last)
        #expect([first, second, last].map(\.name) == ["first", "second", "last"])
        #expect(first.queuePriority == .low && second.dependencies == [first])
        #expect(
            queue.explain(second).description == "BlockOperation 'second': waits for BlockOperation 'first'; "
                + "queue 'work' is suspended; set isSuspended to false")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(order.entries == ["first", "second", "last"])
    }

    @Test func `an addition with a key that is nil is one without a key, also to a subclass`() throws {
        final class Counting: OperationQueue, @unchecked Sendable {
            let added = Journal<String>()
            override func addOperation(_ op: Operations.Operation) {
                added.append(op.name ?? "")
                super.addOperation(op)
            }
        }
        let queue = Counting()
        let key: String? = nil
        queue.addOperation(BlockOperation(name: "plain") {}, limitKey: key)
        try queue.tryAddOperation(BlockOperation(name: "tried") {}, limitKey: key)
        queue.addOperation(name: "closure", limitKey: key) {}
        queue.addTask(name: "task", limitKey: key) {}
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.added.entries == ["plain", "closure", "task"])
    }
}

private final class WatchedQueue: OperationQueue, @unchecked Sendable {
    private let gone: Gate

    init(_ gone: Gate) {
        self.gone = gone
        super.init()
    }

    deinit { gone.open() }
}

private final class WatchedOperation: Operations.Operation, @unchecked Sendable {
    private let gone: Gate

    init(_ gone: Gate) {
        self.gone = gone
        super.init()
    }

    deinit { gone.open() }
}
