import Synchronization

/// A reference that is set once, by the first thread that needs the object. Reading an unset reference costs a load.
///
/// `Synchronization.AtomicLazyReference` has the same behavior. But its unspecialized `load` looks up generic metadata at
/// each call, which was a sixth of the cost of an operation.
struct LazyReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    // Sendable: an atomic that changes once, from 0 to a retained object.
    private let bits = Atomic<UInt>(0)

    deinit { Unmanaged<Object>.at(bits.load(ordering: .acquiring))?.release() }

    @inline(__always)
    func load() -> Object? { Unmanaged<Object>.at(bits.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Calls `body` with the object, if there is one, without counting a reference. The caller holds the owner of this
    /// reference.
    ///
    /// Sequentially consistent, like `storeIfNil`, for a worker that announces that it leaves and then looks here once
    /// more.
    @inline(__always)
    @discardableResult
    func withLoaded<Result>(_ body: (Object) -> Result) -> Result? {
        guard let object = Unmanaged<Object>.at(bits.load(ordering: .sequentiallyConsistent)) else { return nil }
        return object._withUnsafeGuaranteedRef(body)
    }

    /// Sequentially consistent, as `withLoaded` is.
    @inline(__always)
    var isSet: Bool { bits.load(ordering: .sequentiallyConsistent) != 0 }

    /// Keeps `candidate` unless there is an object already. Returns the kept object.
    func storeIfNil(_ candidate: consuming Object) -> Object {
        let new = Unmanaged.passRetained(candidate)
        let (done, seen) = bits.compareExchange(
            expected: 0, desired: UInt(bitPattern: new.toOpaque()), ordering: .sequentiallyConsistent)
        guard !done else { return candidate }
        new.release()
        return Unmanaged<Object>.at(seen).unsafelyUnwrapped.takeUnretainedValue()
    }
}
