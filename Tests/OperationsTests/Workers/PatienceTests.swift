@testable import Operations
import Testing

/// How long a worker without work waits for more: see `Patience`.
@Suite struct PatienceTests {
    private static let wakeUp: UInt64 = 25_000

    @Test func `a worker that has slept for a short time waits longer than a sleep costs`() {
        var patience = Patience()
        patience.workEnded(at: 1_000_000)
        patience.workArrived(at: 1_000_000 + 2 * Self.wakeUp)
        #expect(patience.longestWait > Self.wakeUp)
    }

    @Test func `a worker that has slept for long, or has never slept, waits for a few microseconds only`() {
        var patience = Patience()
        patience.workArrived(at: 5_000_000_000)
        #expect(patience.longestWait == 0)
        patience.workEnded(at: 5_000_000_000)
        patience.workArrived(at: 5_001_000_000)
        #expect(patience.longestWait == 0)
    }

    @Test func `a worker that has waited for long in vain does so again after 16 short sleeps`() {
        var patience = Patience()
        var waits: [UInt64] = []
        for sleep in 1...40 {
            patience.workEnded(at: UInt64(sleep) * 1_000_000)
            patience.workArrived(at: UInt64(sleep) * 1_000_000 + Self.wakeUp)
            waits.append(patience.longestWait)
            if patience.longestWait > 0 { patience.longWaitEnded() }
        }
        #expect(waits.indices.filter { waits[$0] > 0 } == [0, 17, 34])
    }
}
