import Operations
import TestSupport
import Testing

/// Rule K1 on queues.
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ObserveQueueTests {
    @Test func `width, suspension, name and quality are announced with the values exchanged`() {
        let (queue, observer) = (OperationQueue(), ChangeRecorder())
        queue.name = "a"
        for name in ["maxConcurrentOperationCount", "isSuspended", "name", "qualityOfService"] {
            queue.addObserver(observer, forKeyPath: name, options: [.old, .new], context: nil)
        }
        queue.maxConcurrentOperationCount = 3
        queue.isSuspended = true
        queue.name = "b"
        queue.qualityOfService = .utility
        #expect(
            observer.changes.entries == [
                "maxConcurrentOperationCount -1 3", "isSuspended false true", "name a b",
                "qualityOfService default utility",
            ])
    }

    @Test func `operations and operationCount are announced as each operation comes and goes, and no barrier`() {
        let (queue, counts, all) = (OperationQueue(), Journal<[Int]>(), Gate(12))
        queue.maxConcurrentOperationCount = 1
        queue.isSuspended = true
        let observer = CountRecorder(counts, all)
        queue.addObserver(observer, forKeyPath: "operationCount", options: [.old, .new], context: nil)
        let (operations, lists) = (["a", "b", "c"].map(Operations.Operation.init(named:)), Journal<String>())
        let namer = ListRecorder(lists, all)
        queue.addObserver(namer, forKeyPath: "operations", options: [.old, .new], context: nil)
        queue.addOperations(Array(operations[..<2]), waitUntilFinished: false)
        queue.addBarrierBlock {}
        queue.addOperation(operations[2])
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        all.pass()
        #expect(counts.entries == [[0, 1], [1, 2], [2, 3], [3, 2], [2, 1], [1, 0]])
        #expect(lists.entries == [" → a", "a → ab", "ab → abc", "abc → bc", "bc → c", "c → "])
    }

    /// Many programs observe it to detect the end of all operations.
    @Test func `the last change of operationCount is to 0, regardless of the order of adding and ending`() {
        let (queue, adders) = (OperationQueue(), OperationQueue())
        let (counts, all) = (Journal<[Int]>(), Gate(2000))
        let observer = CountRecorder(counts, all)
        queue.addObserver(observer, forKeyPath: "operationCount", options: [.old, .new], context: nil)
        let meeting = Gate(4)
        adders.maxConcurrentOperationCount = 4
        for _ in 0..<4 {
            adders.addOperation {
                meeting.meet()
                for round in 0..<250 {
                    let operation = BlockOperation {}
                    queue.addOperation(operation)
                    if round % 7 == 0 { operation.cancel() }
                }
            }
        }
        adders.waitUntilAllOperationsAreFinished()
        queue.waitUntilAllOperationsAreFinished()
        // A thread of the queue may make the last calls a moment after the queue is empty.
        all.pass()
        #expect(counts.entries.count == 2000)
        // Each change begins with the last value of the previous one, and is a step of one.
        #expect(zip(counts.entries, counts.entries.dropFirst()).allSatisfy { $0[1] == $1[0] })
        #expect(counts.entries.allSatisfy { abs($0[0] - $0[1]) == 1 })
        #expect(counts.entries.first?[0] == 0 && counts.entries.last?[1] == 0)
    }

    @Test(.tags(.release)) func `an observed queue may be released, and its observers are released with it`() {
        var queue: OperationQueue? = OperationQueue()
        let gone = Weak(queue)
        var witness: Journal<Int>? = Journal()
        let handler = Weak(witness)
        let token = queue!.observe(\.isSuspended) { [witness] _, _ in witness?.append(1) }
        queue = nil
        witness = nil
        #expect(gone.isGone)
        token.invalidate()
        #expect(handler.isGone)
    }

    @Test func `a handler may change the queue that it observes`() {
        let (queue, log) = (OperationQueue(), Journal<Int>())
        let token = queue.observe(\.maxConcurrentOperationCount, options: .new) { queue, change in
            log.append(change.newValue!)
            if change.newValue! < 4 { queue.maxConcurrentOperationCount = change.newValue! + 1 }
            queue.isSuspended.toggle()
        }
        queue.maxConcurrentOperationCount = 2
        token.invalidate()
        #expect(log.entries == [2, 3, 4])
        #expect(queue.isSuspended)
    }
}

private final class ListRecorder: KeyValueObserver, Sendable {
    private let log: Journal<String>
    private let notified: Gate

    init(_ log: Journal<String>, _ notified: Gate) { (self.log, self.notified) = (log, notified) }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        func names(_ key: NSKeyValueChangeKey) -> String {
            (change![key] as! [Operations.Operation]).map { $0.name! }.joined()
        }
        log.append("\(names(.oldKey)) → \(names(.newKey))")
        notified.open()
    }
}

private final class CountRecorder: KeyValueObserver, Sendable {
    private let log: Journal<[Int]>
    private let notified: Gate

    init(_ log: Journal<[Int]>, _ notified: Gate) { (self.log, self.notified) = (log, notified) }

    func observeValue(
        forKeyPath keyPath: String?, of object: Any?, change: [NSKeyValueChangeKey: Any]?,
        context: UnsafeMutableRawPointer?
    ) {
        log.append([change![.oldKey] as! Int, change![.newKey] as! Int])
        notified.open()
    }
}
