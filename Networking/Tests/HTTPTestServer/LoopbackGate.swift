import NIOConcurrencyHelpers

/// A gate that stalls a response until a test opens the gate. An open gate stays open. The gate counts arrivals, so
/// that a test can wait until the server has reached the gate.
public final class LoopbackGate: Sendable {
    private struct State {
        var isOpen = false
        var arrivals = 0
        var waiting = 0
    }

    private let state = Watched(State())

    /// Creates a closed gate.
    public init() {}

    /// Opens the gate for all present and future tasks.
    public func open() { state.change { $0.isOpen = true } }

    /// Whether the gate is open.
    public var isOpen: Bool { state.value.isOpen }

    /// The number of tasks that have reached the gate, including the tasks that have passed or were cancelled.
    public var arrivals: Int { state.value.arrivals }

    /// The number of tasks that wait now.
    public var waiting: Int { state.value.waiting }

    /// Reaches the gate and suspends until the gate is open.
    ///
    /// - Throws: `CancellationError` if the task is cancelled.
    public func pass() async throws {
        state.change {
            $0.arrivals += 1
            $0.waiting += 1
        }
        await state.wait { $0.isOpen }
        state.change { $0.waiting -= 1 }
        // A cancelled task does not pass, even if the gate has opened meanwhile.
        try Task.checkCancellation()
    }

    /// Suspends until `count` tasks have reached the gate, or until the calling task is cancelled.
    public func reached(_ count: Int = 1) async { await state.wait { $0.arrivals >= count } }

    /// Suspends until no task waits at the gate, or until the calling task is cancelled. A cancelled task no longer
    /// waits.
    public func deserted() async { await state.wait { $0.waiting == 0 } }
}
