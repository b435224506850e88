#if DEBUG
@testable import Operations
import SchedulerCore
import Synchronization
import TestSupport
import Testing

/// The locks and the exchanges of atomic words on the path of one operation; see "Architecture".
@Suite struct PrimitivesTests {
    @Test func `adding a block operation to a busy queue takes no lock and three exchanges`() {
        let busy = BusyQueue()
        let operations = (0..<10).map { _ in BlockOperation {} }
        let before = Primitives.ofThisThread
        for operation in operations { busy.queue.addOperation(operation) }
        #expect(Primitives.ofThisThread - before == Primitives.Counts(locks: 0, exchanges: 30))
        busy.finish()
    }

    @Test func `adding a closure to a busy queue takes no lock and one exchange`() {
        let busy = BusyQueue()
        let before = Primitives.ofThisThread
        for _ in 0..<10 { busy.queue.addOperation {} }
        #expect(Primitives.ofThisThread - before == Primitives.Counts(locks: 0, exchanges: 10))
        busy.finish()
    }

    #if !canImport(ObjectiveC)
    /// The C library frees such blocks without a lock.
    @Test func `a block operation and its attachments are allocations of at most 120 bytes each`() {
        let operation = BlockOperation {}
        #expect((1...120).contains(instanceSize(BlockOperation.self)))
        #expect((1...120).contains(instanceSize(type(of: operation.ownAttachments))))
    }
    #endif

    /// Sixteen operations are still in the cache when they are taken from the inbox. A million are not.
    @Test func `a thread that adds to a busy queue takes the lock once for sixteen operations`() {
        let busy = BusyQueue()
        let before = Primitives.ofThisThread
        for _ in 0..<160 { busy.queue.addOperation {} }
        #expect((Primitives.ofThisThread - before).locks == 160 / Int(Allocation.alignment) && busy.queue.inbox.isEmpty)
        busy.finish()
    }

    @Test func `a thread that adds to a suspended queue takes the lock once for sixteen operations`() {
        let queue = OperationQueue()
        queue.isSuspended = true
        // The queue begins to rest with the first operation.
        queue.addOperation {}
        let before = Primitives.ofThisThread
        for _ in 0..<160 { queue.addOperation {} }
        #expect((Primitives.ofThisThread - before).locks == 160 / Int(Allocation.alignment) && queue.inbox.isEmpty)
        queue.isSuspended = false
        queue.waitUntilAllOperationsAreFinished()
    }

    /// In a process of its own: while other queues wait for a thread, a worker also reads how long it has worked.
    @Test func `a worker takes one lock and five exchanges for each block operation`() async {
        await #expect(processExitsWith: .success) {
            let busy = BusyQueue()
            let readings = Mutex<[Primitives.Counts]>([])
            for _ in 0..<20 { busy.queue.addOperation { readings.withLock { $0.append(Primitives.ofThisThread) } } }
            busy.finish()
            let all = readings.withLock { $0 }
            // The counts from one operation to the next. The first look drains the inbox.
            let differences = zip(all.dropFirst(), all).map { $0 - $1 }.dropFirst()
            // Not all: a worker that loses its processor for some milliseconds gives way to another one.
            #expect(differences.count { $0 == Primitives.Counts(locks: 1, exchanges: 5) } >= 10)
        }
    }
}

#if !canImport(ObjectiveC)
/// The bytes of an instance, as the runtime allocates them. The metadata of a class has them after the kind, the
/// superclass, the flags and the address point. The size of a block that the C library returns is no measure: a free
/// block that is 16 bytes too large is not split.
private func instanceSize(_ type: AnyClass) -> UInt32 {
    unsafeBitCast(type, to: UnsafeRawPointer.self).load(fromByteOffset: 24, as: UInt32.self)
}
#endif

/// A queue whose one slot is occupied until it finishes.
private struct BusyQueue {
    let queue = OperationQueue()
    private let gate = Gate()

    init() {
        queue.maxConcurrentOperationCount = 1
        let reached = Gate()
        queue.addOperation { [gate] in
            reached.open()
            gate.pass()
        }
        reached.pass()
    }

    func finish() {
        gate.open()
        queue.waitUntilAllOperationsAreFinished()
    }
}
#endif
