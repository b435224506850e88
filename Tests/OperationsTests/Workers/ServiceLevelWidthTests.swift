import Operations
import Synchronization
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// Rule Q4 for operations whose service level differs from that of their queue.
@Suite(.timeLimit(.minutes(5))) struct ServiceLevelWidthTests {
    private final class Flag: Sendable {
        private let flag = Atomic(false)
        func set() { flag.store(true, ordering: .releasing) }
        var isSet: Bool { flag.load(ordering: .acquiring) }
    }

    @Test func `computing operations with their own level share the processors of a queue with the default limit`() {
        let queue = OperationQueue()
        let (begun, mayEnd, counter) = (Gate(), Flag(), ConcurrencyCounter())
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        for _ in 0..<4 * processors {
            let operation = BlockOperation {
                counter.enter()
                begun.open()
                while !mayEnd.isSet {}
                counter.leave()
            }
            operation.qualityOfService = .utility
            queue.addOperation(operation)
        }
        begun.pass()
        OperationQueue.settle()
        mayEnd.set()
        queue.waitUntilAllOperationsAreFinished()
        // A thread for each processor, and as many again for threads that looked blocked for a moment.
        #expect(counter.most <= 2 * processors)
    }
}
