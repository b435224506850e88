import Synchronization

/// An active observation. The observation ends when the object is invalidated or released.
public final class NSKeyValueObservation: Sendable {
    /// The retained observation; 0 after `invalidate()`, which releases the observation and its handler.
    private let bits: Atomic<UInt>

    init(_ observation: Observation) { bits = Atomic(UInt(bitPattern: Unmanaged.passRetained(observation).toOpaque())) }

    deinit { invalidate() }

    /// Ends the observation.
    ///
    /// After the call has returned, the handler is not called again on this thread. A call that another thread is making at
    /// this moment continues to its end. Further calls of `invalidate()` have no effect.
    public func invalidate() {
        let old = bits.exchange(0, ordering: .acquiringAndReleasing)
        guard let observation = UnsafeRawPointer(bitPattern: old) else { return }
        Unmanaged<Observation>.fromOpaque(observation).takeRetainedValue().invalidate()
    }
}
