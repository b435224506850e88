import Operations
import TestSupport
import Testing

/// Rule Q5: a suspended queue.
@Suite(.timeLimit(.minutes(5))) struct QueueSuspensionTests {
    /// Rule Q5.
    @Test func `a suspended queue accepts operations, starts none, and runs them when resumed`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = 1
        #expect(!queue.isSuspended)
        queue.isSuspended = true
        #expect(queue.isSuspended)
        for i in 0..<5 { queue.addOperation { log.append("\(i)") } }
        OperationQueue().addOperations([Operation(), Operation()], waitUntilFinished: true)
        #expect(queue.snapshot.countedOperations == 5)
        log.append("resumed")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["resumed", "0", "1", "2", "3", "4"])
    }

    /// Rule Q5: no operation starts, although it could have started when it was added. The running one continues to its
    /// end.
    @Test(arguments: [1, 2, -1]) func `a suspended queue starts no ready operation, and running ones continue`(
        width: Int
    ) {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = width
        let count = width > 0 ? width : OperationQueue.defaultMaxThreadCount
        let (started, gate) = (Gate(count), Gate())
        let running = (0..<count).map { _ in
            BlockOperation {
                started.open()
                gate.pass()
                log.append("running")
            }
        }
        queue.addOperations(running, waitUntilFinished: false)
        started.pass()
        for _ in 0..<10 { queue.addOperation { log.append("waiting") } }
        queue.isSuspended = true
        gate.open()
        for operation in running { operation.waitUntilFinished() }
        #expect(queue.snapshot.countedOperations == 10)
        log.append("resumed")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        let ends = Array(repeating: "running", count: count)
        #expect(log.entries == ends + ["resumed"] + Array(repeating: "waiting", count: 10))
    }

    /// Rule Q5: an operation that suspends its serial queue is the last to start.
    @Test func `nothing starts after an operation has suspended its own queue`() {
        for _ in 0..<50 {
            let (queue, log) = (OperationQueue(), Journal<String>())
            queue.maxConcurrentOperationCount = 1
            let last = BlockOperation { [unowned queue] in queue.isSuspended = true }
            queue.addOperation(last)
            for _ in 0..<3 { queue.addOperation { log.append("after") } }
            last.waitUntilFinished()
            log.append("resumed")
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            #expect(log.entries == ["resumed", "after", "after", "after"])
        }
    }

    /// Rules Q5, P5: operations that need a thread of another service level are not an exception.
    @Test func `a suspended queue also starts no operation with its own quality of service`() {
        for _ in 0..<50 {
            let (queue, log) = (OperationQueue(), Journal<String>())
            queue.maxConcurrentOperationCount = 1
            let last = BlockOperation { [unowned queue] in queue.isSuspended = true }
            last.qualityOfService = .userInitiated
            queue.addOperation(last)
            for quality: QualityOfService in [.utility, .userInteractive] {
                let after = BlockOperation { log.append("after") }
                after.qualityOfService = quality
                queue.addOperation(after)
            }
            last.waitUntilFinished()
            log.append("resumed")
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            #expect(log.entries == ["resumed", "after", "after"])
        }
    }

    /// Rules Q5, X2.
    @Test func `a suspended queue starts no barrier`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.isSuspended = true
        queue.addBarrierBlock { log.append("barrier") }
        queue.addOperation { log.append("operation") }
        OperationQueue().addOperations([Operation()], waitUntilFinished: true)
        log.append("resumed")
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["resumed", "barrier", "operation"])
    }

    /// Rule Q5.
    @Test func `operations that become ready while the queue is suspended start when it is resumed`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.isSuspended = true
        let dependency = Operation()
        let operation = BlockOperation { log.append("operation") }
        operation.addDependency(dependency)
        queue.addOperation(operation)
        dependency.start()
        OperationQueue().addOperations([Operation()], waitUntilFinished: true)
        log.append("resumed")
        queue.isSuspended = false
        operation.waitUntilFinished()
        #expect(log.entries == ["resumed", "operation"])
    }

    /// Rule Q5: resuming is never lost, regardless of concurrent suspensions.
    @Test(.tags(.threads)) func `after many changes from many threads, the last one decides`() {
        let (queue, others, runs) = (OperationQueue(), OperationQueue(), Atomic64())
        others.maxConcurrentOperationCount = 4
        for _ in 0..<4 {
            others.addOperation {
                for _ in 0..<100 {
                    queue.isSuspended = true
                    queue.addOperation { runs.add(1) }
                    queue.isSuspended = false
                }
            }
        }
        others.waitUntilAllOperationsAreFinished()
        queue.waitUntilAllOperationsAreFinished()
        #expect(runs.value == 400)
    }
}
