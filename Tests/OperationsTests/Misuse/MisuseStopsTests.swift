import Dispatch
import Operations
import Synchronization
import TestSupport
import Testing

/// One way to misuse a plain member.
enum Misuse: String, CaseIterable, Codable, Sendable {
    case startWhileExecuting, startInsideATry, startWhileInQueue, startWhileNotReady
    case addTwice, addToTwoQueues, addTwiceInBatch
    case addExecuting, addFinished, addFinishedByItsOwnWord, addFinishedInBatch
    case underlyingQueueWhileNotEmpty
    case lateBlockWhileExecuting, lateBlockAfterFinish
    case negativeConcurrencyLimit
    case dependOnOneself
    case waitForOneself, waitInsideSerialQueue, waitForBatchInsideSerialQueue, waitForAllFromInside

    /// A part of the message.
    var message: String {
        switch self {
        case .startWhileExecuting, .startInsideATry, .startWhileInQueue, .startWhileNotReady: "was started "
        case .addTwice, .addToTwoQueues, .addTwiceInBatch: "was added while it is in a queue"
        case .addExecuting, .addFinished, .addFinishedByItsOwnWord, .addFinishedInBatch: "was added to a queue "
        case .underlyingQueueWhileNotEmpty: "underlyingQueue of "
        case .lateBlockWhileExecuting, .lateBlockAfterFinish: "a block was added to "
        case .negativeConcurrencyLimit: "maxConcurrentOperationCount of "
        case .dependOnOneself: "was made to depend on itself"
        case .waitForOneself, .waitInsideSerialQueue, .waitForBatchInsideSerialQueue, .waitForAllFromInside:
            " waits for "
        }
    }

    func commit() {
        let queue = OperationQueue.suspended()
        let operation = BlockOperation()
        operation.name = "culprit"
        queue.name = "culprit"
        switch self {
        case .startWhileExecuting, .addExecuting, .lateBlockWhileExecuting, .waitForOneself:
            operation.addExecutionBlock { [unowned operation] in self.commitInside(operation, queue) }
            operation.start()
        case .startInsideATry:
            operation.addExecutionBlock { [unowned operation] in operation.start() }
            try? operation.tryStart()
        case .startWhileInQueue:
            queue.addOperation(operation)
            operation.start()
        case .startWhileNotReady:
            operation.addDependency(Operation())
            operation.start()
        case .addTwice, .addToTwoQueues, .addTwiceInBatch, .addFinished, .addFinishedInBatch,
            .addFinishedByItsOwnWord:
            commitAdding(operation, queue)
        case .underlyingQueueWhileNotEmpty:
            queue.addOperation(operation)
            queue.underlyingQueue = DispatchQueue(label: "underlying")
        case .lateBlockAfterFinish:
            operation.start()
            operation.addExecutionBlock {}
        case .negativeConcurrencyLimit: queue.maxConcurrentOperationCount = -2
        case .dependOnOneself: operation.addDependency(operation)
        case .waitInsideSerialQueue, .waitForBatchInsideSerialQueue, .waitForAllFromInside:
            queue.maxConcurrentOperationCount = 1
            queue.isSuspended = false
            let carrier = BlockOperation { self.commitInside(operation, queue) }
            carrier.name = "culprit"
            queue.addOperation(carrier)
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    private func commitInside(_ operation: BlockOperation, _ queue: OperationQueue) {
        switch self {
        case .startWhileExecuting: operation.start()
        case .addExecuting: queue.addOperation(operation)
        case .lateBlockWhileExecuting: operation.addExecutionBlock {}
        case .waitForOneself: operation.waitUntilFinished()
        case .waitInsideSerialQueue:
            queue.addOperation(operation)
            operation.waitUntilFinished()
        case .waitForBatchInsideSerialQueue: queue.addOperations([operation], waitUntilFinished: true)
        case .waitForAllFromInside: queue.waitUntilAllOperationsAreFinished()
        default: break
        }
    }

    private func commitAdding(_ operation: BlockOperation, _ queue: OperationQueue) {
        switch self {
        case .addTwice:
            queue.addOperation(operation)
            queue.addOperation(operation)
        case .addToTwoQueues:
            OperationQueue.suspended().addOperation(operation)
            queue.addOperation(operation)
        case .addTwiceInBatch: queue.addOperations([operation, operation], waitUntilFinished: false)
        case .addFinished:
            operation.start()
            queue.addOperation(operation)
        case .addFinishedInBatch:
            operation.start()
            queue.addOperations([BlockOperation {}, operation], waitUntilFinished: false)
        case .addFinishedByItsOwnWord:
            let finished = SpellingOperation()
            finished.name = "culprit"
            finished.finishSilently()
            queue.addOperation(finished)
        default: break
        }
    }
}

/// Rules M1–M8: the plain members stop the process, and name the rule and the operation, in debug and release builds.
@Suite(.tags(.release)) struct MisuseStopsTests {
    /// Rules M1–M8.
    @Test(.timeLimit(.minutes(5)), arguments: Misuse.allCases)
    func `misuse stops the process and names the rule and the operation`(misuse: Misuse) async throws {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { [misuse] in
            misuse.commit()
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        #expect(text.contains(misuse.message))
        #expect(text.contains("'culprit'"))
    }

    /// Calls the default `start()` only in the second call.
    private final class Reluctant: Operation, @unchecked Sendable {
        private let starts = Atomic(0)
        override func start() { if starts.add(1, ordering: .relaxed).oldValue > 0 { super.start() } }
    }

    /// Rule M1: a completed call of `tryStart` does not affect later calls on its thread.
    @Test(.timeLimit(.minutes(5))) func `after a throwing variant, the plain member still stops the process`()
        async throws
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let operation = Reluctant()
            try operation.tryStart()
            operation.addDependency(Operation())
            operation.start()
        }
        #expect(String(decoding: try #require(result).standardErrorContent, as: UTF8.self).contains("was started "))
    }
}
