import Operations
import TestSupport
import Testing

/// Rules Q4, Q12 and Q13: the default limit under load, many threads, operations that use their own queue.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct QueueLoadTests {
    /// Rule Q4: operations that wait for each other end only if all run at the same time.
    @Test(arguments: [2, 32, OperationQueue.defaultMaxThreadCount])
    func `with the default limit, blocked operations do not starve the others`(count: Int) {
        let (queue, meeting) = (OperationQueue(), Gate(count))
        for _ in 0..<count { queue.addOperation { meeting.meet() } }
        queue.waitUntilAllOperationsAreFinished()
    }

    /// Rule Q4.
    @Test func `the ceiling of the default limit is at least 64 and is not exceeded`() {
        #expect(OperationQueue.defaultMaxThreadCount >= 64)
        let (queue, counter) = (OperationQueue(), ConcurrencyCounter())
        let meeting = Gate(OperationQueue.defaultMaxThreadCount)
        for _ in 0..<3 * OperationQueue.defaultMaxThreadCount {
            queue.addOperation {
                counter.enter()
                meeting.meet()
                counter.leave()
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(counter.most == OperationQueue.defaultMaxThreadCount)
    }

    /// Rule Q4: a queue full of blocked operations does not delay another queue.
    @Test func `a queue runs operations while other queues are full of blocked ones`() {
        let full = (0..<4).map { _ in HeldQueue(width: nil) }
        let runs = Atomic64()
        let queue = OperationQueue()
        for _ in 0..<10 { queue.addOperation { runs.add(1) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(runs.value == 10)
        for held in full { held.release() }
    }

    static let highestWidth = min(
        OperationQueue.maxThreadCount, Stress.rounds(OperationQueue.maxThreadCount, least: 128))

    /// Rules Q3, Q4: the limit of one queue does not limit all queues together. Each operation needs a thread.
    @Test(.tags(.slow), arguments: [highestWidth, OperationQueue.defaultMaxConcurrentOperationCount])
    func `operations of several queues may all wait for each other`(width: Int) {
        let each = width > 0 ? width : OperationQueue.defaultMaxThreadCount
        let all = min(1200, Stress.rounds(1200, least: 256))
        let queues = (0..<max(2, all / each)).map { _ in OperationQueue() }
        let meeting = Gate(queues.count * each)
        for queue in queues {
            queue.maxConcurrentOperationCount = width
            for _ in 0..<each { queue.addOperation { meeting.meet() } }
        }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
    }

    /// Rules Q4, Q13.
    @Test(arguments: [2, OperationQueue.defaultMaxConcurrentOperationCount])
    func `an operation may wait for another that it adds to its own queue`(width: Int) {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = width
        for _ in 0..<20 {
            let outer = BlockOperation { [unowned queue] in
                queue.addOperations([BlockOperation { log.append("inner") }], waitUntilFinished: true)
                log.append("outer")
            }
            queue.addOperations([outer], waitUntilFinished: true)
        }
        #expect(log.entries == (0..<20).flatMap { _ in ["inner", "outer"] })
    }

    /// Rules Q4, Q13.
    @Test(arguments: [1, 10, 60]) func `operations may wait for each other in a deep chain`(depth: Int) {
        let (queue, log) = (OperationQueue(), Journal<Int>())
        @Sendable func descend(_ level: Int, in queue: OperationQueue) {
            if level > 0 {
                let next = BlockOperation { [unowned queue] in descend(level - 1, in: queue) }
                queue.addOperation(next)
                next.waitUntilFinished()
            }
            log.append(level)
        }
        descend(depth, in: queue)
        #expect(log.entries == Array(0...depth))
    }

    /// Rules Q4, Q13: all wait at the same time.
    @Test func `many operations may each wait for another of their queue`() {
        let (queue, inner) = (OperationQueue(), Atomic64())
        let meeting = Gate(32)
        for _ in 0..<32 {
            queue.addOperation { [unowned queue] in
                meeting.meet()
                queue.addOperations([BlockOperation { inner.add(1) }], waitUntilFinished: true)
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(inner.value == 32)
    }

    /// Rule Q12.
    @Test(arguments: [1, 3, -1]) func `many threads may use one queue`(width: Int) {
        let (queue, adders, runs) = (OperationQueue(), OperationQueue(), Atomic64())
        queue.maxConcurrentOperationCount = width
        adders.maxConcurrentOperationCount = 8
        let meeting = Gate(8)
        for i in 0..<8 {
            adders.addOperation {
                meeting.meet()
                for j in 0..<200 {
                    if i == 0, j % 20 == 0 { queue.isSuspended.toggle() }
                    if i == 1 { queue.maxConcurrentOperationCount = j % 2 == 0 ? 2 : width }
                    queue.addOperation { runs.add(1) }
                    if i == 2 { _ = queue.snapshot.listedOperations }
                }
            }
        }
        adders.waitUntilAllOperationsAreFinished()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(runs.value == 1600)
    }

    /// Rule Q12: the order of each adder is kept.
    @Test func `a serial queue keeps the order of every thread that adds`() {
        let (queue, adders, log) = (OperationQueue(), OperationQueue(), Journal<[Int]>())
        queue.maxConcurrentOperationCount = 1
        adders.maxConcurrentOperationCount = 4
        for i in 0..<4 { adders.addOperation { for j in 0..<500 { queue.addOperation { log.append([i, j]) } } } }
        adders.waitUntilAllOperationsAreFinished()
        queue.waitUntilAllOperationsAreFinished()
        for i in 0..<4 { #expect(log.entries.filter { $0[0] == i }.map { $0[1] } == Array(0..<500)) }
    }

    /// Rule Q13.
    @Test func `an operation may add to, widen, suspend and cancel its own queue`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = 1
        let suspended = Gate()
        queue.addOperation { [unowned queue] in
            queue.maxConcurrentOperationCount = 2
            queue.addOperation { log.append("perhaps") }
            queue.isSuspended = true
            queue.addOperation { log.append("never") }
            queue.cancelAllOperations()
            queue.addOperation { log.append("added") }
            log.append("first")
            suspended.open()
        }
        suspended.pass()
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries.filter { $0 != "perhaps" } == ["first", "added"])
        #expect(queue.maxConcurrentOperationCount == 2)
    }
}
