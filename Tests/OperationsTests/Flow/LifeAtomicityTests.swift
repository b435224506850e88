import KeyValueObserving
import Operations
import Synchronization
import TestSupport
import Testing

/// Rules L9 and L11: the view of other threads.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct LifeAtomicityTests {
    private final class Short: Operation, @unchecked Sendable {
        let hasBegun = Atomic(false)
        override func main() { hasBegun.store(true, ordering: .releasing) }
    }

    /// Rule L9.
    @Test(arguments: [true, false])
    func `no thread sees a finished operation that executes, or a started one that is neither executing nor finished`(
        inQueue: Bool
    ) {
        let operations = (0..<1000).map { _ in Short() }
        let wrong = Atomic(0)
        let watcher = TestThread {
            for operation in operations {
                while !operation.hasBegun.load(ordering: .acquiring) {}
                while true {
                    // The operation has begun: if it does not execute now, it has finished.
                    if !operation.isExecuting, !operation.isFinished { wrong.add(1, ordering: .relaxed) }
                    if operation.isFinished {
                        if operation.isExecuting { wrong.add(1, ordering: .relaxed) }
                        break
                    }
                }
            }
        }
        let queue = OperationQueue.serial()
        if inQueue { operations.forEach(queue.addOperation) } else { operations.forEach { $0.start() } }
        queue.waitUntilAllOperationsAreFinished()
        watcher.join()
        #expect(wrong.load(ordering: .relaxed) == 0)
    }

    /// Rule L9.
    @Test func `observers of a change see both properties changed`() {
        let (operation, log) = (CountingOperation(), Journal<[Bool]>())
        let tokens = [\CountingOperation.isExecuting, \.isFinished].map { path in
            operation.observe(path, options: .prior) { operation, change in
                log.append([change.isPrior, operation.isExecuting, operation.isFinished])
            }
        }
        operation.start()
        #expect(
            log.entries == [
                [true, false, false], [false, true, false],
                [true, true, false], [true, true, false], [false, false, true], [false, false, true],
            ])
        for token in tokens { token.invalidate() }
    }

    /// Rule L9.
    @Test func `a cancelled operation goes to finished without executing`() {
        let (operation, log) = (CountingOperation(), Journal<String>())
        operation.cancel()
        let tokens = [
            operation.observe(\.isExecuting) { _, _ in log.append("isExecuting") },
            operation.observe(\.isFinished, options: [.old, .new]) {
                log.append("isFinished \($1.oldValue!) \($1.newValue!)")
            },
        ]
        operation.start()
        #expect(log.entries == ["isFinished false true"])
        for token in tokens { token.invalidate() }
    }

    /// Rule L9: starting a finished operation changes nothing, so there is no announcement.
    @Test func `nothing is announced when a finished operation is started`() {
        let (operation, log) = (CountingOperation(), Journal<Bool>())
        operation.start()
        let token = operation.observe(\.isFinished, options: .prior) { log.append($1.isPrior) }
        operation.start()
        token.invalidate()
        #expect(log.entries.isEmpty)
    }

    /// Rule L11.
    @Test func `every member may be used from any thread at any time`() {
        for _ in 0..<40 {
            let queue = OperationQueue()
            let operation = CountingOperation()
            let dependency = CountingOperation()
            let meeting = Gate(4)
            let threads = [
                TestThread {
                    meeting.meet()
                    for _ in 0..<50 {
                        operation.addDependency(dependency)
                        operation.removeDependency(dependency)
                        _ = operation.dependencies
                    }
                },
                TestThread {
                    meeting.meet()
                    for round in 0..<50 {
                        operation.name = "\(round)"
                        operation.queuePriority = round % 2 == 0 ? .low : .high
                        operation.qualityOfService = round % 2 == 0 ? .utility : .userInitiated
                        operation.completionBlock = { _ = round }
                        _ = (operation.name, operation.queuePriority, operation.qualityOfService)
                        _ = (operation.completionBlock, operation.description)
                    }
                },
                TestThread {
                    meeting.meet()
                    for _ in 0..<50 {
                        _ = (operation.isReady, operation.isExecuting, operation.isFinished, operation.isCancelled)
                    }
                    operation.cancel()
                },
            ]
            meeting.meet()
            queue.addOperation(dependency)
            queue.addOperation(operation)
            queue.waitUntilAllOperationsAreFinished()
            threads.forEach { $0.join() }
            #expect(operation.isFinished && dependency.isFinished)
            #expect(operation.runCount <= 1)
        }
    }
}
