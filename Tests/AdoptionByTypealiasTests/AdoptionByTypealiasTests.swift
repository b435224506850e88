import Foundation
import Testing

@Suite struct AdoptionByTypealiasTests {
    @Test func `the names mean this project's classes`() {
        #expect(String(reflecting: Operation.self) == "Operations.Operation")
        #expect(String(reflecting: BlockOperation.self) == "Operations.BlockOperation")
        #expect(String(reflecting: OperationQueue.self) == "Operations.OperationQueue")
    }

    @Test func `synchronous and asynchronous subclasses run in a queue, by their dependencies`() {
        let queue = OperationQueue()
        queue.name = "adoption"
        queue.maxConcurrentOperationCount = 2
        let (sum, download, order) = (Summing(upTo: 100), Downloading(), Order())
        let last = BlockOperation { order.append("last") }
        last.addExecutionBlock { order.append("last") }
        last.addDependency(sum)
        last.addDependency(download)
        last.queuePriority = .high
        queue.addOperations([last, sum, download], waitUntilFinished: true)
        #expect(sum.sum == 5050)
        #expect(download.received == Data([1, 2, 3]))
        #expect(order.list == ["last", "last"])
        #expect(last.dependencies == [sum, download])
    }

    @Test func `a completion block runs, and work is handed to the main queue`() async {
        let sum = Summing(upTo: 10)
        await withCheckedContinuation { continuation in
            sum.completionBlock = {
                OperationQueue.main.addOperation {
                    #expect(OperationQueue.current === OperationQueue.main)
                    dispatchPrecondition(condition: .onQueue(.main))
                    continuation.resume()
                }
            }
            OperationQueue().addOperation(sum)
        }
        #expect(sum.isFinished && !sum.isExecuting && sum.completionBlock == nil)
    }

    @Test func `a queue is current inside its operations, and can be suspended and cancelled`() {
        let queue = OperationQueue()
        queue.qualityOfService = .userInitiated
        queue.isSuspended = true
        let cancelled = Summing(upTo: 3)
        queue.addOperation(cancelled)
        queue.addOperation { #expect(OperationQueue.current === queue) }
        queue.addBarrierBlock { #expect(cancelled.isFinished) }
        cancelled.cancel()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(cancelled.isFinished && cancelled.isCancelled && cancelled.sum == 0)
        #expect(queue.maxConcurrentOperationCount == OperationQueue.defaultMaxConcurrentOperationCount)
    }
}
