import Synchronization

/// An observation under way: it ends when this is invalidated or released.
public final class NSKeyValueObservation: Sendable {
    /// The observation, retained, until it is invalidated: its handler goes then, with what it captured.
    private let bits: Atomic<UInt>

    init(_ observation: Observation) { bits = Atomic(UInt(bitPattern: Unmanaged.passRetained(observation).toOpaque())) }

    deinit { invalidate() }

    /// Ends the observation. When it has returned, nothing more is told on this thread; a handler that another thread is
    /// running at this moment goes on to its end. Calling it again has no effect.
    public func invalidate() {
        let old = bits.exchange(0, ordering: .acquiringAndReleasing)
        guard let observation = UnsafeRawPointer(bitPattern: old) else { return }
        Unmanaged<Observation>.fromOpaque(observation).takeRetainedValue().invalidate()
    }
}
