import Operations
import Synchronization
import TestSupport
import Testing

/// A worker that lingers replaces a worker that would be woken: it has to run all work that arrives meanwhile, in any
/// way.
@Suite(.onOwnThread, .timeLimit(.minutes(10)), .tags(.threads, .release, .slow)) struct LingeringStress {
    @Test(arguments: [1, OperationQueue.defaultMaxConcurrentOperationCount])
    func `an operation that arrives as the last worker goes to sleep is run`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        for round in 0..<Stress.rounds(100_000, small: 1_000) {
            queue.addOperation {}
            // A different pause each round, around the time that a worker lingers.
            for _ in 0..<(round % 200) { Delay.once() }
            queue.addOperation {}
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `resuming as the last worker goes to sleep starts the waiting operations`() {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(50_000, small: 1_000) {
            queue.addOperation {}
            for _ in 0..<(round % 100) { Delay.once() }
            queue.isSuspended = true
            queue.addOperation {}
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `an operation that is added as soon as another one is seen to end is run`() {
        let queue = OperationQueue()
        for round in 0..<Stress.rounds(100_000, small: 2_000) {
            let operation = BlockOperation {}
            queue.addOperation(operation)
            operation.waitUntilFinished()
            for _ in 0..<(round % 400) { Delay.once() }
        }
    }

    private enum Delay {
        static let something = Atomic<Int>(0)

        static func once() { something.wrappingAdd(1, ordering: .relaxed) }
    }
}
