import Synchronization

/// A reference to an object that stays until the end of the owner, and is in use or not. Reading one that is not in use costs a load,
/// as with a `LazyReference` that is unset.
struct ToggledReference<Object: AnyObject>: ~Copyable, @unchecked Sendable {
    // Sendable: the first word has the address of the kept object, or 0.
    private let bits = Atomic<UInt>(0)
    private let keptReference = LazyReference<Object>()

    /// The object, if it is in use. A thread may use it a little longer, so it is released with the owner only.
    @inline(__always)
    func load() -> Object? { Unmanaged<Object>.at(bits.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Whether the object is in use. Sequentially consistent, as in `LazyReference`.
    @inline(__always)
    var isSet: Bool { bits.load(ordering: .sequentiallyConsistent) != 0 }

    /// The object, in use or not.
    var kept: Object? { keptReference.load() }

    /// The object, which is made at the first need.
    func kept(orNew make: () -> Object) -> Object { keptReference.load() ?? keptReference.storeIfNil(make()) }

    /// Begins or ends the use of the kept object. The caller has the calls in order, by a lock.
    func setUsed(_ isUsed: Bool) {
        let address =
            isUsed ? keptReference.load().map { UInt(bitPattern: Unmanaged.passUnretained($0).toOpaque()) } : nil
        bits.store(address ?? 0, ordering: .sequentiallyConsistent)
    }
}
