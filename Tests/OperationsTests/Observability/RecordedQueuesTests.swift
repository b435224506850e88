import Operations
import TestSupport
import Testing

struct RecordedQueuesTests {
    /// An object that counts the live objects of its kind.
    private final class Counted: Sendable {
        private let live: Guarded<Int>

        init(_ live: Guarded<Int>) {
            self.live = live
            live.withLock { $0 += 1 }
        }

        deinit { live.withLock { $0 -= 1 } }
    }

    /// A queue of another size, so that it does not get the address of a released `OperationQueue`.
    private final class LargeQueue: OperationQueue, @unchecked Sendable {
        // Sendable, because it is constant.
        private let padding = (SIMD64<UInt8>(), SIMD64<UInt8>(), SIMD64<UInt8>())
    }

    @Test func `the recordings of released queues are removed, and those of other queues are kept`() {
        let (recorded, live, events) = (RecordedQueues(), Guarded(0), Journal<String>())
        func record(_ queues: [OperationQueue]) {
            for queue in queues {
                let counted = Counted(live)
                recorded.record(queue, for: .added) { event in
                    withExtendedLifetime(counted) { events.append(event.shortName) }
                }
            }
        }
        record((0..<1000).map { _ in OperationQueue() })
        let kept = (0..<2000).map { _ in LargeQueue() }
        record(kept)
        #expect(live.withLock { $0 } == kept.count)
        for queue in kept { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
        #expect(events.entries == Array(repeating: "BlockOperation", count: kept.count))
        recorded.stop()
        #expect(live.withLock { $0 } == 0)
    }
}
