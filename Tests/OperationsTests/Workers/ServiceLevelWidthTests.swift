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
@Suite(.timeLimit(.minutes(5)), .tags(.threads)) struct ServiceLevelWidthTests {
    /// Counts the operations that compute. Its methods wait for nothing, so that no operation looks blocked because of it.
    private final class Computation: Sendable {
        private let inside = Atomic(0)
        private let mostInside = Atomic(0)
        private let mayEnd = Atomic(false)

        func run() {
            mostInside.max(inside.add(1, ordering: .relaxed).newValue, ordering: .relaxed)
            while !mayEnd.load(ordering: .relaxed) {}
            inside.subtract(1, ordering: .relaxed)
        }

        func end() { mayEnd.store(true, ordering: .relaxed) }
        var hasBegun: Bool { mostInside.load(ordering: .relaxed) > 0 }
        var most: Int { mostInside.load(ordering: .relaxed) }
    }

    /// Each processor gets a thread. A thread may look blocked for a moment, for example while it waits for a page of
    /// memory. It then gets a replacement, and both compute. So the exact number depends on the machine.
    @Test func `computing operations with their own level do not get a thread each if the limit is the default`() {
        let (queue, computation) = (OperationQueue(), Computation())
        let processors = sysconf(Int32(_SC_NPROCESSORS_ONLN))
        for _ in 0..<16 * processors {
            let operation = BlockOperation { computation.run() }
            operation.qualityOfService = .utility
            queue.addOperation(operation)
        }
        while !computation.hasBegun { sched_yield() }
        for _ in 0..<30 { OperationQueue.settle() }
        computation.end()
        queue.waitUntilAllOperationsAreFinished()
        #expect(computation.most <= 8 * processors)
    }
}
