#if Networking
import NIOConcurrencyHelpers

/// Closed until opened, and open from then on. Who passes says so, so that a test knows how far the server has got.
public final class LoopbackGate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting = 0
    }

    private let state = Watched(State())

    public init() {}

    /// Lets everybody pass, now and later.
    public func open() { state.change { $0.isOpen = true } }

    public var isOpen: Bool { state.value.isOpen }

    /// How many have come here, those included who have passed or given up.
    public var arrivals: Int { state.value.arrivals }

    /// How many wait now.
    public var waiting: Int { state.value.waiting }

    /// Comes to the gate and suspends until it is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled before.
    public func pass() async throws {
        state.change {
            $0.arrivals += 1
            $0.waiting += 1
        }
        await state.wait { $0.isOpen }
        state.change { $0.waiting -= 1 }
        // Who is cancelled does not pass, also if the gate has been opened meanwhile.
        try Task.checkCancellation()
    }

    /// Suspends until so many have come here, or the task is cancelled.
    public func reached(_ count: Int = 1) async { await state.wait { $0.arrivals >= count } }

    /// Suspends until nobody waits here any more, or the task is cancelled. Who gave up waits no more.
    public func deserted() async { await state.wait { $0.waiting == 0 } }
}
#endif
