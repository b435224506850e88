import Dispatch
import Operations
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Rules Q6, Q7 and Q9: the properties of a queue.
@Suite(.timeLimit(.minutes(5))) struct QueueLookingTests {
    /// Rule Q6.
    @Test func `operations are listed in the order added, regardless of priority, without barriers`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let priorities: [Operation.QueuePriority] = [.low, .veryHigh, .normal]
        let operations = (0..<60).map { i in
            let operation = Operation()
            operation.queuePriority = priorities[i % 3]
            if i % 10 == 0 { queue.addBarrierBlock {} }
            queue.addOperation(operation)
            return operation
        }
        #expect(queue.snapshot.listedOperations == operations)
        #expect(queue.snapshot.countedOperations == 60)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(queue.snapshot.listedOperations.isEmpty)
        #expect(queue.snapshot.countedOperations == 0)
    }

    /// Rule Q6: running operations are listed and finished ones are not, regardless of their place.
    @Test func `the list contains running operations and no finished ones`() {
        let held = HeldQueue(width: 2)
        let (first, second) = (BlockOperation(), BlockOperation())
        held.queue.addOperations([first, second], waitUntilFinished: false)
        #expect(held.queue.snapshot.countedOperations == 4)
        held.freeOne()
        second.waitUntilFinished()
        #expect(held.queue.snapshot.countedOperations == 1)
        let later = Operation()
        held.queue.isSuspended = true
        held.queue.addOperation(later)
        #expect(held.queue.snapshot.listedOperations.last == later)
        held.queue.isSuspended = false
        held.release()
    }

    /// Rule Q6: a snapshot does not change.
    @Test func `a list taken before keeps its operations`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        let operation = Operation()
        queue.addOperation(operation)
        let list = queue.snapshot.listedOperations
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
        #expect(list == [operation])
    }

    /// Rule Q7.
    @Test func `the default name contains the address and a name reads back as set`() throws {
        let (queue, other) = (OperationQueue(), OperationQueue())
        let address = String(UInt(bitPattern: Unmanaged.passUnretained(queue).toOpaque()), radix: 16)
        #expect(try #require(queue.name).contains(address))
        #expect(queue.name != other.name)
        queue.name = "mine"
        #expect(queue.name == "mine")
        #expect(queue.description.contains("mine"))
        #expect(queue.description.contains("OperationQueue"))
        queue.name = nil
        #expect(try #require(queue.name).contains(address))
        #expect(queue.description.contains(address))
    }

    #if os(Linux)
    /// Rule Q7: Linux keeps 15 bytes. A letter that does not fit completely is omitted.
    @Test(arguments: [
        ("downloads", "downloads"), ("a name of more than fifteen", "a name of more "),
        ("fourteen chars\u{E9}", "fourteen chars"), ("thirteen char\u{E9}s", "thirteen char\u{E9}"),
    ])
    func `the thread carries the name of the queue`(name: String, expected: String) {
        let (queue, seen) = (OperationQueue(), Journal<String>())
        queue.name = name
        queue.addOperation { seen.append(threadName()) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [expected])
    }
    #endif

    /// Rule Q9.
    @Test func `the current queue is the one whose operation runs here, and none elsewhere`() {
        let seen = Journal<OperationQueue?>()
        let queues = (0..<3).map { _ in OperationQueue() }
        for queue in queues { queue.addOperation { seen.append(OperationQueue.current) } }
        for queue in queues { queue.waitUntilAllOperationsAreFinished() }
        #expect(Set(seen.entries) == Set(queues))
        TestThread { seen.append(OperationQueue.current) }.join()
        #expect(seen.entries.last == .some(nil))
    }

    /// Rules Q9, X1.
    @Test func `barriers see their queue too`() {
        let (queue, seen) = (OperationQueue(), Journal<OperationQueue?>())
        queue.addBarrierBlock { seen.append(OperationQueue.current) }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [queue])
    }

    /// Rule Q9: an operation started by hand inside another one is in no queue. The outer queue is still current.
    @Test func `an operation started by hand inside another sees the outer queue`() {
        let (queue, seen) = (OperationQueue(), Journal<OperationQueue?>())
        queue.addOperation {
            BlockOperation { seen.append(OperationQueue.current) }.start()
            seen.append(OperationQueue.current)
        }
        queue.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [queue, queue])
    }

    /// Rules Q9 and M8: a helper thread runs one of the blocks.
    @Test func `each block of an operation started by hand sees the outer queue and the outer operation`() {
        let (queue, seen, errors) = (OperationQueue(), Journal<OperationQueue?>(), Journal<String>())
        let outer = Guarded<Operations.Operation?>(nil)
        let operation = BlockOperation {
            let meeting = Gate(2)
            let inner = BlockOperation()
            for _ in 0..<2 {
                inner.addExecutionBlock {
                    meeting.meet()
                    seen.append(OperationQueue.current)
                    do throws(OperationError) { try outer.withLock { $0 }?.tryWaitUntilFinished() } catch {
                        errors.append("waits for itself")
                    }
                }
            }
            inner.start()
        }
        outer.withLock { $0 = operation }
        queue.addOperation(operation)
        operation.waitUntilFinished()
        outer.withLock { $0 = nil }
        #expect(seen.entries == [queue, queue])
        #expect(errors.entries.count == 2)
    }

    /// Rules Q9, Q10 and P5: also on threads that are not the queue's own workers.
    @Test func `an operation started by hand on a thread of Dispatch or of another level sees the outer queue`() {
        let (underlain, plain, seen) = (OperationQueue(), OperationQueue(), Journal<OperationQueue?>())
        underlain.underlyingQueue = DispatchQueue(label: "underlying")
        for queue in [underlain, plain] {
            let operation = BlockOperation {
                BlockOperation { seen.append(OperationQueue.current) }.start()
                seen.append(OperationQueue.current)
            }
            operation.qualityOfService = .utility
            queue.addOperations([operation], waitUntilFinished: true)
        }
        #expect(seen.entries == [underlain, underlain, plain, plain])
    }

    /// Rule Q9: before, while and after an operation waits for one in another queue.
    @Test func `inside nested queues the innermost is current`() {
        let (outer, inner, seen) = (OperationQueue(), OperationQueue(), Journal<OperationQueue?>())
        outer.addOperation {
            seen.append(OperationQueue.current)
            inner.addOperations([BlockOperation { seen.append(OperationQueue.current) }], waitUntilFinished: true)
            seen.append(OperationQueue.current)
        }
        outer.waitUntilAllOperationsAreFinished()
        #expect(seen.entries == [outer, inner, outer])
    }
}

#if os(Linux)
private func threadName() -> String {
    let file = fopen("/proc/thread-self/comm", "r")
    defer { if let file { fclose(file) } }
    guard let file else { return "" }
    var bytes = [UInt8](repeating: 0, count: 32)
    let count = fread(&bytes, 1, bytes.count, file)
    return String(decoding: bytes[..<count].prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
}
#endif
