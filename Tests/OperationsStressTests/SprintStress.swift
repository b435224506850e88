import Operations
import Synchronization
import TestSupport
import Testing

/// No thread calls a worker that sprints. An operation that breaks the pattern must not delay the others.
// One at a time, because waiters here spin as if they computed.
@Suite(.onOwnThread, .serialized, .timeLimit(.minutes(10)), .tags(.threads, .release, .slow)) struct SprintStress {
    @Test func `tiny operations, then an operation that waits for a later one`() {
        for _ in 0..<Stress.rounds(200) {
            let queue = OperationQueue()
            for _ in 0..<500 { queue.addOperation {} }
            let meeting = Meeting()
            queue.addOperation { meeting.pass() }
            for _ in 0..<50 { queue.addOperation {} }
            queue.addOperation { meeting.open() }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `tiny operations, then an operation that adds an operation and waits for it`() {
        for _ in 0..<Stress.rounds(200) {
            let queue = OperationQueue()
            for _ in 0..<500 { queue.addOperation {} }
            queue.addOperation {
                let meeting = Meeting()
                queue.addOperation { meeting.open() }
                meeting.pass()
            }
            queue.waitUntilAllOperationsAreFinished()
        }
    }

    @Test func `several threads add tiny operations in bursts`() {
        let queue = OperationQueue()
        let adders = OperationQueue()
        adders.maxConcurrentOperationCount = 3
        let count = Atomic<Int>(0)
        let bursts = Stress.rounds(2000, small: 60)
        for _ in 0..<3 {
            adders.addOperation {
                for burst in 0..<bursts {
                    for _ in 0..<(burst % 150) { queue.addOperation { count.wrappingAdd(1, ordering: .relaxed) } }
                    if burst % 3 == 0 { queue.waitUntilAllOperationsAreFinished() }
                }
            }
        }
        adders.waitUntilAllOperationsAreFinished()
        queue.waitUntilAllOperationsAreFinished()
        let ran = count.load(ordering: .relaxed)
        #expect(ran == 3 * (0..<bursts).reduce(0) { $0 + $1 % 150 })
    }

    /// A one-shot gate that the system does not know, unlike its own waits.
    private final class Meeting: Sendable {
        private let isOpen = Atomic<Bool>(false)

        func open() { isOpen.store(true, ordering: .releasing) }

        func pass() { while !isOpen.load(ordering: .acquiring) { Pause.yield() } }
    }
}
