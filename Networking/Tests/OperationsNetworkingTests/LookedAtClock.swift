import OperationsTesting
import TestSupport

/// A virtual clock that advances by a step after each reading, while steps remain.
final class LookedAtClock: Clock {
    private let clock = VirtualClock()
    private let steps = Guarded<[Duration]>([])

    /// Sets the steps by which the clock advances after the next readings.
    func goOn(by steps: [Duration]) { self.steps.withLock { $0 = steps } }

    var now: VirtualClock.Instant {
        let now = clock.now
        if let step = steps.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) { clock.advance(by: step) }
        return now
    }

    var minimumResolution: Duration { clock.minimumResolution }

    func sleep(until deadline: VirtualClock.Instant, tolerance: Duration?) async throws {
        try await clock.sleep(until: deadline, tolerance: tolerance)
    }
}
