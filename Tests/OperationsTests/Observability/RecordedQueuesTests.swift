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

    @Test func `the recordings of released queues are removed, and those of other queues are kept`() {
        let (recorded, live, events) = (RecordedQueues(), Guarded(0), Journal<String>())
        var kept: [OperationQueue] = []
        for number in 0..<10_000 {
            let (queue, counted) = (OperationQueue(), Counted(live))
            recorded.record(queue, for: .added) { event in
                withExtendedLifetime(counted) { events.append(event.shortName) }
            }
            if number % 1000 == 0 { kept.append(queue) }
        }
        #expect(live.withLock { $0 } <= 2 * kept.count)
        for queue in kept { queue.addOperations([BlockOperation {}], waitUntilFinished: true) }
        #expect(events.entries == Array(repeating: "BlockOperation", count: kept.count))
        recorded.stop()
        #expect(live.withLock { $0 } == 0)
    }
}
