import Operations
import TestSupport
import Testing

/// Rules Q3 and Q4: the number of operations that run at a time.
@Suite(.timeLimit(.minutes(5))) struct QueueWidthTests {
    /// Rule Q3.
    @Test func `the width begins as the default`() {
        #expect(OperationQueue.defaultMaxConcurrentOperationCount == -1)
        #expect(OperationQueue().maxConcurrentOperationCount == -1)
    }

    /// Rule Q3: also above the ceiling.
    @Test(arguments: [0, 1, 2, 511, 512, 513, 100_000, Int.max, -1]) func `a width reads back as set`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = width
        #expect(queue.maxConcurrentOperationCount == width)
        queue.maxConcurrentOperationCount = 3
        queue.addOperations([Operation()], waitUntilFinished: true)
    }

    /// Rules Q3, M6.
    @Test(arguments: [-2, -100, Int.min]) func `another negative width is refused and nothing changes`(width: Int) {
        let queue = OperationQueue()
        queue.maxConcurrentOperationCount = 7
        #expect(throws: OperationError.negativeConcurrencyLimit(queue: "queue '\(queue.name!)'", limit: width)) {
            try queue.trySetMaxConcurrentOperationCount(width)
        }
        #expect(queue.maxConcurrentOperationCount == 7)
    }

    /// Rule M6.
    @Test func `the plain member stops the process and names a remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            OperationQueue().maxConcurrentOperationCount = -2
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(message.contains("Use 0 or more"))
    }

    /// Rule Q3: exactly as many as the width, no fewer (they meet) and no more (they are counted).
    @Test(arguments: [1, 2, 3, 10, 100]) func `as many operations run at a time as the limit permits`(width: Int) {
        let (queue, counter) = (OperationQueue(), ConcurrencyCounter())
        queue.maxConcurrentOperationCount = width
        counter.fill(queue, width: width, groups: 3)
        #expect(counter.most == width)
        #expect(counter.total == 3 * width)
    }

    /// Rule Q3: the documented ceiling limits a higher value, and is reached.
    @Test func `a width above the ceiling is bounded by it`() {
        let (queue, counter, meeting) = (OperationQueue(), ConcurrencyCounter(), Gate(OperationQueue.maxThreadCount))
        queue.maxConcurrentOperationCount = Int.max
        for _ in 0..<2 * OperationQueue.maxThreadCount {
            queue.addOperation {
                counter.enter()
                meeting.meet()
                counter.leave()
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(counter.most == OperationQueue.maxThreadCount)
    }

    /// Rule Q3.
    @Test func `width 0 starts nothing until it is raised`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.maxConcurrentOperationCount = 0
        for _ in 0..<10 { queue.addOperation { log.append("operation") } }
        queue.addBarrierBlock { log.append("barrier") }
        let other = OperationQueue()
        for _ in 0..<10 { other.addOperations([Operation()], waitUntilFinished: true) }
        #expect(queue.snapshot.countedOperations == 10)
        log.append("raised")
        queue.maxConcurrentOperationCount = 1
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["raised"] + Array(repeating: "operation", count: 10) + ["barrier"])
    }

    /// Rule Q3: a lower limit applies to all operations that have not started, also if they could have started when they
    /// were added.
    @Test(arguments: [4, 64, OperationQueue.defaultMaxConcurrentOperationCount])
    func `after the limit is lowered, no more operations run than it permits`(width: Int) {
        let (queue, counter) = (OperationQueue(), ConcurrencyCounter())
        queue.maxConcurrentOperationCount = width
        let (started, gate, last) = (Gate(4), Gate(), Gate())
        for i in 0..<4 {
            queue.addOperation {
                if i == 3 { counter.enter() }
                started.open()
                (i == 3 ? last : gate).pass()
                if i == 3 { counter.leave() }
            }
        }
        if width > 0 { for _ in 4..<width { queue.addOperation { gate.pass() } } }
        started.pass()
        queue.maxConcurrentOperationCount = 2
        let meeting = Gate()
        for _ in 0..<50 {
            queue.addOperation {
                counter.enter()
                meeting.open()
                Gate.shortWork()
                counter.leave()
            }
        }
        gate.open()
        // One of the new operations has run at the same time as the last of the old ones.
        meeting.pass()
        last.open()
        queue.waitUntilAllOperationsAreFinished()
        #expect(counter.most <= 2)
        #expect(counter.total == 51)
    }

    /// Rule Q3: a limit that is lowered inside an operation applies to the next start.
    @Test func `a serial queue set to width 0 by its operation starts no other`() {
        let (queue, log) = (OperationQueue(), Journal<Int>())
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let first = BlockOperation { [unowned queue] in
            log.append(1)
            queue.maxConcurrentOperationCount = 0
        }
        queue.addOperation(first)
        for i in 2..<5 { queue.addOperation { log.append(i) } }
        queue.isSuspended = false
        first.waitUntilFinished()
        #expect(queue.snapshot.countedOperations == 3)
        log.append(0)
        queue.maxConcurrentOperationCount = 1
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == [1, 0, 2, 3, 4])
    }

    /// Rule Q3: a higher limit takes effect at once, while all running operations are blocked.
    @Test(arguments: [2, 8, -1]) func `after the limit is raised, waiting operations start at once`(width: Int) {
        let held = HeldQueue()
        let meeting = Gate(width > 0 ? width - 1 : 20)
        let operations = (0..<(width > 0 ? width - 1 : 20)).map { _ in BlockOperation { meeting.meet() } }
        held.queue.addOperations(operations, waitUntilFinished: false)
        held.queue.maxConcurrentOperationCount = width
        for operation in operations { operation.waitUntilFinished() }
        held.release()
    }
}

extension Gate {
    /// Some work that gives other operations the chance to overlap.
    fileprivate static func shortWork() {
        let queue = OperationQueue()
        queue.addOperations([Operation()], waitUntilFinished: true)
    }
}
