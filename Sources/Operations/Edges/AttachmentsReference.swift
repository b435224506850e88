import CPlatform
import Synchronization

/// The attachments of an operation. Until there are any, its dependencies, in a stack without a lock.
///
/// Most operations of a graph have a few dependencies, and nothing else that needs attachments. For such an operation,
/// adding a dependency is one exchange of this word. Everything else, such as listing or removing dependencies, first
/// creates the attachments, and moves the edges there in the same exchange. So a thread that has the attachments has the
/// edges too.
struct AttachmentsReference: ~Copyable, @unchecked Sendable {
    // Sendable: an atomic. The attachments never change after they were stored.

    /// 0, the address of a retained `Attachments`, or the address of the newest edge with the bit `edges`.
    private let bits = Atomic<UInt>(0)

    private static var edges: UInt { 1 }

    deinit { Self.attachments(bits.load(ordering: .acquiring))?.release() }

    @inline(__always)
    func load() -> Attachments? { Self.attachments(bits.load(ordering: .acquiring))?.takeUnretainedValue() }

    /// Calls `body` with the attachments, if there are any, without counting a reference. The caller holds the operation.
    @inline(__always)
    @discardableResult
    func withLoaded<Result>(_ body: (Attachments) -> Result) -> Result? {
        guard let attachments = Self.attachments(bits.load(ordering: .sequentiallyConsistent)) else { return nil }
        return attachments._withUnsafeGuaranteedRef(body)
    }

    /// Begins to fetch the attachments, if there are any.
    @inline(__always)
    func prefetch() {
        if let attachments = Self.attachments(bits.load(ordering: .relaxed)) {
            cplatform_prefetch(attachments.toOpaque())
        }
    }

    /// Whether there are attachments.
    @inline(__always)
    var isSet: Bool { Self.attachments(bits.load(ordering: .sequentiallyConsistent)) != nil }

    /// Whether there are attachments or edges.
    @inline(__always)
    var isUsed: Bool { bits.load(ordering: .acquiring) != 0 }

    /// The newest edge, if there are no attachments.
    var newestEdge: Edge? { Self.edge(bits.load(ordering: .acquiring)) }

    /// Keeps `candidate` unless there are attachments already. Returns the kept attachments.
    func storeIfNil(_ candidate: consuming Attachments) -> Attachments {
        let new = Unmanaged.passRetained(candidate)
        var old = bits.load(ordering: .acquiring)
        while true {
            if let present = Self.attachments(old) {
                new.release()
                return present.takeUnretainedValue()
            }
            // No other thread has the candidate yet.
            candidate.prepare(with: Self.edge(old))
            Primitives.noteExchange()
            let (done, seen) = bits.compareExchange(
                expected: old, desired: UInt(bitPattern: new.toOpaque()), ordering: .sequentiallyConsistent)
            if done { return candidate }
            old = seen
        }
    }

    /// Adds an edge. False: there are attachments, and the edge belongs there.
    @inline(__always)
    func push(_ edge: Edge) -> Bool {
        var old = bits.load(ordering: .acquiring)
        while Self.attachments(old) == nil {
            edge.nextOfList = Self.edge(old)
            Primitives.noteExchange()
            let (done, seen) = bits.weakCompareExchange(
                expected: old, desired: edge.address | Self.edges, ordering: .acquiringAndReleasing)
            if done { return true }
            old = seen
        }
        return false
    }

    @inline(__always)
    private static func attachments(_ bits: UInt) -> Unmanaged<Attachments>? {
        bits & edges == 0 ? .at(bits) : nil
    }

    @inline(__always)
    private static func edge(_ bits: UInt) -> Edge? {
        bits & edges == 0 ? nil : Edge(address: bits & ~edges)
    }
}
