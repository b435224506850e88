#if Combine
import OpenCombine
import OperationsCombine
import OperationsFoundation
import TestSupport
import Testing

/// Additions, as code for Apple's framework expects them.
@Suite struct SchedulingAdditionTests {
    private final class Counting: Operations.OperationQueue, @unchecked Sendable {
        let additions = Guarded(0)

        override func addOperation(_ operation: Operations.Operation) {
            additions.withLock { $0 += 1 }
            super.addOperation(operation)
        }

        override func addOperation(_ block: @escaping @Sendable () -> Void) {
            additions.withLock { $0 += 1 }
            super.addOperation(block)
        }
    }

    @Test func `an action is one addition, also for a subclass that counts both members`() {
        let (queue, ran) = (Counting(), Gate())
        queue.schedule { ran.open() }
        ran.pass()
        #expect(queue.additions.withLock { $0 } == 1)
    }
}
#endif
