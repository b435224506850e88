import OperationsFoundation
import TestSupport
import Testing

@Suite struct ProgressCountTests {
    @Test func `nothing is reported before the total is set`() {
        let queue = OperationQueue()
        let progress = queue.progress
        for _ in 0..<10 { queue.addOperation {} }
        queue.waitUntilAllOperationsAreFinished()
        #expect(progress.completedUnitCount == 0)
        #expect(progress.fractionCompleted == 0)
    }

    @Test func `after the total is set, each operation that has run main adds one unit`() {
        let queue = OperationQueue()
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        queue.progress.totalUnitCount = 4
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 1)
        #expect(queue.progress.fractionCompleted == 0.25)
        queue.addOperations([BlockOperation {}, Operation(), BlockOperation()], waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 4)
        #expect(queue.progress.fractionCompleted == 1)
        #expect(queue.progress.isFinished)
    }

    @Test func `an operation that is running when the total is set counts`() {
        let queue = OperationQueue()
        let (started, gate) = (Gate(), Gate())
        queue.addOperation {
            started.open()
            gate.pass()
        }
        started.pass()
        queue.progress.totalUnitCount = 1
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test(.tags(.slow, .threads), arguments: 0..<3)
    func `very many operations from four threads with a limit of eight count exactly`(round: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        let each = Stress.rounds(25_000, small: 500)
        queue.progress.totalUnitCount = Int64(4 * each)
        DispatchQueue.concurrentPerform(iterations: 4) { _ in
            for _ in 0..<each { queue.addOperation {} }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == Int64(4 * each))
        #expect(queue.progress.fractionCompleted == 1)
    }

    @Test func `the unit is counted before a waiting caller resumes`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 100
        for count in 1...100 {
            queue.addOperations([BlockOperation {}], waitUntilFinished: true)
            #expect(queue.progress.completedUnitCount == Int64(count))
        }
    }

    @Test(arguments: [Int64.max, Int64.max - 1])
    func `counts of any size saturate, for an operation, its own progress, a child and pending units`(completed: Int64)
    {
        let queue = OperationQueue()
        let progress = queue.progress
        (progress.totalUnitCount, progress.completedUnitCount) = (.max, completed)
        let operation = BlockOperation {
            // The progress of the operation.
            let own = Progress.current()!
            (own.totalUnitCount, own.completedUnitCount) = (.max, completed)
            own.addChild(finishedProgress(), withPendingUnitCount: .max)
            #expect(own.completedUnitCount == .max)
            // The operation ends it as the current progress, with a pending unit.
        }
        queue.addOperations([operation], waitUntilFinished: true)
        #expect(progress.completedUnitCount == .max)
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        progress.addChild(finishedProgress(), withPendingUnitCount: 3)
        progress.becomeCurrent(withPendingUnitCount: .max)
        progress.resignCurrent()
        #expect(progress.completedUnitCount == .max)
        #expect(progress.fractionCompleted == 1)
        // The smallest number, too.
        (progress.totalUnitCount, progress.completedUnitCount) = (1, .min)
        progress.becomeCurrent(withPendingUnitCount: .min)
        progress.resignCurrent()
        #expect(progress.completedUnitCount == .min)
    }

    private func finishedProgress() -> Progress {
        let child = Progress.discreteProgress(totalUnitCount: 1)
        child.completedUnitCount = 1
        return child
    }

    @Test func `an operation that overrides start adds nothing`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 2
        queue.addOperations([StartedByItself(), BlockOperation {}], waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test func `a cancelled operation, which skips main, adds nothing`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 2
        let cancelled = BlockOperation {}
        cancelled.cancel()
        queue.addOperations([cancelled, BlockOperation {}], waitUntilFinished: true)
        #expect(queue.progress.completedUnitCount == 1)
    }

    @Test func `a barrier block adds nothing`() {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 2
        queue.addBarrierBlock {}
        queue.addOperation {}
        queue.addBarrierBlock {}
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 1)
    }

    /// Foundation on Linux counts three, too.
    @Test(arguments: [OperationQueue.defaultMaxConcurrentOperationCount, 1])
    func `of three operations, one that is cancelled before its start, and a barrier, three units count`(width: Int) {
        let (queue, operations) = (OperationQueue(), (0..<4).map { _ in BlockOperation {} })
        queue.maxConcurrentOperationCount = width
        queue.progress.totalUnitCount = 10
        queue.isSuspended = true
        queue.addOperations(operations, waitUntilFinished: false)
        queue.addBarrierBlock {}
        operations[3].cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 3)
        #expect(queue.progress.fractionCompleted == 0.3)
    }

    @Test func `in a barrier block the count is exact and the total may change`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        queue.progress.totalUnitCount = 200
        let seen = Journal<Double>()
        func add() { queue.addOperation { seen.append(queue.progress.fractionCompleted) } }
        for _ in 0..<100 { add() }
        queue.addBarrierBlock {
            #expect(queue.progress.completedUnitCount == 100)
            #expect(queue.progress.fractionCompleted == 0.5)
            // Less work remains than expected, so the bar jumps forward.
            queue.progress.totalUnitCount = 150
            seen.append(queue.progress.fractionCompleted)
        }
        for _ in 0..<50 { add() }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == 150)
        #expect(queue.progress.fractionCompleted == 1)
        // Threads append in any order, but no value after the barrier may be below the value in the barrier.
        #expect(seen.entries[..<100].allSatisfy { $0 < 0.5 })
        #expect(seen.entries[101...].allSatisfy { $0 >= 100.0 / 150 })
    }

    @Test(arguments: [Int64(0), -1])
    func `a total of zero or less ends the reporting`(none: Int64) {
        let queue = OperationQueue()
        queue.progress.totalUnitCount = 2
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        queue.progress.totalUnitCount = none
        queue.addOperations([BlockOperation {}], waitUntilFinished: true)
        #expect(queue.progress.totalUnitCount == none)
        #expect(queue.progress.completedUnitCount == 1)
        #expect(queue.progress.fractionCompleted == 0)
        #expect(queue.progress.isIndeterminate == (none < 0))
        queue.progress.totalUnitCount = 4
        #expect(queue.progress.fractionCompleted == 0.25)
    }

    @Test func `units of resignCurrent are counted together with units of operations`() {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 8
        let each = Stress.rounds(10_000, least: 3_000)
        queue.progress.totalUnitCount = Int64(2 * each)
        let progress = queue.progress
        for _ in 0..<each { queue.addOperation {} }
        for _ in 0..<each {
            progress.becomeCurrent(withPendingUnitCount: 1)
            progress.resignCurrent()
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.progress.completedUnitCount == Int64(2 * each))
    }
}
