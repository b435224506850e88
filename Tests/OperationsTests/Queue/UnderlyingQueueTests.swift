import Dispatch
import Operations
import TestSupport
import Testing

/// Rule Q10: a queue whose operations run on a dispatch queue.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct UnderlyingQueueTests {
    /// Rule Q10.
    @Test func `there is none by default and it reads back as set`() {
        let (queue, dispatchQueue) = (OperationQueue(), DispatchQueue(label: "underlying"))
        #expect(queue.underlyingQueue == nil)
        queue.underlyingQueue = dispatchQueue
        #expect(queue.underlyingQueue === dispatchQueue)
        queue.underlyingQueue = nil
        #expect(queue.underlyingQueue == nil)
    }

    /// Rules Q10, X2: block operations with one block, subclasses and barriers alike.
    @Test(arguments: [true, false]) func `operations and barriers run on it`(serial: Bool) {
        let (queue, log) = (OperationQueue(), Journal<Bool>())
        queue.underlyingQueue = .marked(serial: serial)
        for _ in 0..<20 { queue.addOperation { log.append(DispatchQueue.isMarked) } }
        queue.addBarrierBlock { log.append(DispatchQueue.isMarked) }
        for _ in 0..<20 { queue.addOperation { log.append(DispatchQueue.isMarked) } }
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == Array(repeating: true, count: 41))
    }

    /// Rule Q10: in the order of the dispatch queue, as far as it has one. The blocks of the dispatch queue do not wait for
    /// all operations.
    @Test func `operations are interleaved with the blocks of a serial one`() {
        let (queue, log, gate) = (OperationQueue(), Journal<String>(), Gate())
        let dispatchQueue = DispatchQueue.marked(serial: true)
        queue.underlyingQueue = dispatchQueue
        dispatchQueue.async { gate.pass() }
        for i in 0..<3 {
            queue.addOperation { log.append("operation \(i)") }
            dispatchQueue.async { log.append("block \(i)") }
        }
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
        dispatchQueue.sync {}
        let entries = log.entries
        #expect(entries.filter { $0.hasPrefix("operation") } == (0..<3).map { "operation \($0)" })
        #expect(entries.filter { $0.hasPrefix("block") } == (0..<3).map { "block \($0)" })
        #expect(entries.firstIndex(of: "block 0")! < entries.firstIndex(of: "operation 2")!)
    }

    /// Rule Q10: operations overlap neither each other nor the blocks of the dispatch queue.
    @Test(arguments: [-1, 1, 8]) func `a serial one makes the operation queue serial`(width: Int) {
        let (queue, counter, log) = (OperationQueue(), ConcurrencyCounter(), Journal<Int>())
        let dispatchQueue = DispatchQueue.marked(serial: true)
        queue.underlyingQueue = dispatchQueue
        queue.maxConcurrentOperationCount = width
        for i in 0..<100 {
            queue.addOperation {
                counter.enter()
                log.append(i)
                counter.leave()
            }
            dispatchQueue.async {
                counter.enter()
                counter.leave()
            }
        }
        queue.waitUntilAllOperationsAreFinished()
        dispatchQueue.sync {}
        #expect(counter.most == 1)
        #expect(counter.total == 200)
        #expect(log.entries == Array(0..<100))
    }

    /// Rules Q10, Q3: on a concurrent dispatch queue the concurrency limit decides.
    @Test(arguments: [1, 2, 4]) func `on a concurrent one as many operations run as the limit permits`(width: Int) {
        let (queue, counter) = (OperationQueue(), ConcurrencyCounter())
        queue.underlyingQueue = .marked(serial: false)
        queue.maxConcurrentOperationCount = width
        counter.fill(queue, width: width, groups: 10)
        #expect(counter.most == width)
    }

    /// Rules Q10, P2, Q5.
    @Test func `priority, suspension and cancellation hold on it`() {
        let (queue, log) = (OperationQueue(), Journal<String>())
        queue.underlyingQueue = .marked(serial: true)
        queue.isSuspended = true
        var operations: [Operations.Operation] = []
        for (name, priority) in [("low", Operation.QueuePriority.low), ("gone", .veryHigh), ("high", .high)] {
            let operation = BlockOperation { log.append(name) }
            operation.queuePriority = priority
            queue.addOperation(operation)
            operations.append(operation)
        }
        operations[1].cancel()
        queue.underlyingQueue?.sync {}
        #expect(log.entries.isEmpty)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(log.entries == ["high", "low"])
    }

    /// Rules Q10, Q9, Q13.
    @Test func `the operation queue is current on it, and its operations may add others`() {
        let (queue, seen) = (OperationQueue(), Journal<OperationQueue?>())
        queue.underlyingQueue = .marked(serial: true)
        queue.addOperation { [unowned queue] in
            seen.append(OperationQueue.current)
            queue.addOperation { seen.append(OperationQueue.current) }
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [queue, queue])
    }

    /// Rules Q10, M4.
    @Test func `setting it while operations or barriers wait is refused and nothing changes`() {
        let (queue, first) = (OperationQueue(), DispatchQueue(label: "first"))
        queue.underlyingQueue = first
        queue.isSuspended = true
        let refusal = OperationError.underlyingQueueWhileNotEmpty(queue: "queue '\(queue.name!)'")
        for add in [{ queue.addOperation {} }, { queue.addBarrierBlock {} }] {
            add()
            for other in [DispatchQueue(label: "second"), nil] {
                #expect(throws: refusal) { try queue.trySetUnderlyingQueue(other) }
            }
            #expect(queue.underlyingQueue === first)
            queue.isSuspended = false
            queue.waitUntilAllOperationsAreFinished()
            queue.isSuspended = true
        }
    }

    /// Rule Q10, in a separate process: other tests use the main dispatch queue too.
    @Test func `the main dispatch queue as underlying queue`() async {
        await #expect(processExitsWith: .success) { runsOnMain() }
    }

    /// Rule Q10.
    @Test func `the main queue has the main dispatch queue as its underlying queue`() async {
        await #expect(processExitsWith: .success) {
            let mark = DispatchSpecificKey<Bool>()
            DispatchQueue.main.setSpecific(key: mark, value: true)
            OperationQueue.main.underlyingQueue = DispatchQueue(label: "other")
            if OperationQueue.main.underlyingQueue?.getSpecific(key: mark) != true { fatalError("another queue") }
            // In the way of ported code.
            let queue = OperationQueue()
            queue.underlyingQueue = OperationQueue.main.underlyingQueue
            queue.addOperation { dispatchPrecondition(condition: .onQueue(.main)) }
            await queue.waitUntilAllOperationsAreFinished()
        }
    }

    /// Rule M4.
    @Test func `the plain member stops the process and names a remedy`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let queue = OperationQueue()
            queue.isSuspended = true
            queue.addOperation {}
            queue.underlyingQueue = .main
        }
        let message = result.map { String(decoding: $0.standardErrorContent, as: UTF8.self) } ?? ""
        #expect(message.contains("Set it before adding the first"))
    }

    /// Rule Q10: a thread that served the queue earlier does not run operations that are added later.
    @Test func `after it is set no operation runs elsewhere`() {
        for _ in 0..<100 {
            let (queue, log) = (OperationQueue(), Journal<Bool>())
            for isSet in [false, true, false, true] {
                queue.addOperations([Operation(), Operation()], waitUntilFinished: true)
                queue.underlyingQueue = isSet ? .marked(serial: true) : nil
                for _ in 0..<3 { queue.addOperation { log.append(DispatchQueue.isMarked == isSet) } }
                queue.waitUntilAllOperationsAreFinished()
            }
            #expect(log.entries == Array(repeating: true, count: 12))
        }
    }

    /// Rules Q10, Q1.
    @Test func `the queue is freed after its last operation`() {
        let (gone, runs) = (Gate(), Atomic64())
        do {
            let queue = GateQueue(gone)
            queue.underlyingQueue = .marked(serial: true)
            for _ in 0..<10 { queue.addOperation { runs.add(1) } }
        }
        gone.pass()
        #expect(runs.value == 10)
    }

    /// Ends when the test says so.
    private final class Announced: Operation, @unchecked Sendable {
        private let hasEnded = Guarded(false)
        override var isFinished: Bool { hasEnded.withLock { $0 } }

        override func start() {}

        func end() {
            willChangeValue(forKey: "isFinished")
            hasEnded.withLock { $0 = true }
            didChangeValue(forKey: "isFinished")
        }
    }

    /// Rules D9, Q10. A thread was called on the old dispatch queue, and does not come.
    @Test func `an empty queue with a new dispatch queue does not wait for the old one`() {
        let (old, queue, early) = (DispatchQueue(label: "old"), OperationQueue(), Announced())
        old.suspend()
        queue.underlyingQueue = old
        queue.addOperation(early)
        early.end()
        queue.underlyingQueue = DispatchQueue(label: "new")
        let last = BlockOperation {}
        queue.addOperation(last)
        last.waitUntilFinished()
        old.resume()
    }
}

/// Operations of every kind run on the main dispatch queue, one at a time, in order, with its own blocks between them.
private func runsOnMain() {
    let (queue, log, counter) = (OperationQueue(), Journal<Int>(), ConcurrencyCounter())
    queue.underlyingQueue = .main
    queue.maxConcurrentOperationCount = 4
    let record = { @Sendable (number: Int) in
        dispatchPrecondition(condition: .onQueue(.main))
        if OperationQueue.current?.maxConcurrentOperationCount != 4 { fatalError("another queue is current") }
        counter.enter()
        log.append(number)
        counter.leave()
    }
    for number in 0..<50 { queue.addOperation { record(number) } }
    queue.addBarrierBlock { record(50) }
    for number in 51..<100 { queue.addOperation { record(number) } }
    queue.waitUntilAllOperationsAreFinished()
    if log.entries != Array(0..<100) || counter.most != 1 { fatalError("\(log.entries)") }
}

private final class GateQueue: OperationQueue, @unchecked Sendable {
    private let gone: Gate

    init(_ gone: Gate) { self.gone = gone }

    deinit { gone.open() }
}

extension DispatchQueue {
    private static let mark = DispatchSpecificKey<Bool>()

    /// A dispatch queue that code can recognize as the current one.
    fileprivate static func marked(serial: Bool) -> DispatchQueue {
        let queue = DispatchQueue(label: "marked", attributes: serial ? [] : .concurrent)
        queue.setSpecific(key: mark, value: true)
        return queue
    }

    fileprivate static var isMarked: Bool { getSpecific(key: mark) == true }
}
