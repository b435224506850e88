/// A snapshot of one operation's state word: its phase, what has happened to it, and what must be looked at when it
/// finishes.
///
/// The word is the only thing that threads race for. Each method is one transition: it answers what the word becomes,
/// or nil when the transition is not legal from here. The shell swaps the word with compare-and-exchange and acts only
/// on the answer it won.
///
/// Legal paths of the phase:
///
///     idle ──► entering ──► enqueued ──► starting ──► executing ──► ended ──► finishing ──► finished
///       ▲          │            │            │            │                      ▲
///       └──────────┘            └────────────┴────────────┴──────────────────────┘
///     (batch refused)           (an announcement of isFinished from user code)
///
///     idle ──► executing | ended | finishing        the same without a queue: `start()` called by hand
///     starting ──► ended                            cancelled before it started: `main()` is skipped
///     starting ──► enqueued                         something holds it back after all
///     executing ──► enqueued                        held, and stands aside; it starts once more
///
/// Invariants:
/// - `isCancelled` is set at most once and never after `ended`.
/// - While `inInbox` or `evaluating` is set in `enqueued`, the operation is *pinned*: it neither starts nor leaves its
///   queue. So whoever set the bit may use the operation and the queue, which then exist without a reference of his own,
///   until he has pushed the operation or settled the question.
/// - `unfinished` counts dependencies that are not finished yet; it grows only before `starting`. What starts cancelled
///   may still have some, and they are counted down later.
@frozen
public struct Lifecycle: RawRepresentable, Equatable, Sendable {
    public var rawValue: UInt64

    @inlinable @inline(__always)
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// The word of a new operation: idle, normal priority, quality of service never set.
    @inlinable @inline(__always)
    public init() {
        self.init(rawValue: 0)
        priority = .normal
        effectivePriority = .normal
    }
}

// MARK: - Parts of the word

extension Lifecycle {
    @frozen
    public enum Phase: UInt8, Sendable, CaseIterable {
        case idle, entering, enqueued, starting, executing, ended, finishing, finished
    }

    @frozen
    public struct Flags: OptionSet, Sendable {
        public let rawValue: UInt64
        @inlinable @inline(__always) public init(rawValue: UInt64) { self.rawValue = rawValue }

        @inlinable @inline(__always) public static var cancelled: Flags { Flags(rawValue: 1 << 3) }
        /// The queue may start it: `isReady` was true when it was last asked.
        @inlinable @inline(__always) public static var ready: Flags { Flags(rawValue: 1 << 4) }
        /// It is, or is about to be, in its queue's inbox.
        @inlinable @inline(__always) public static var inInbox: Flags { Flags(rawValue: 1 << 5) }
        /// One thread is asking `isReady`; what others learn meanwhile goes into `askAgain`.
        @inlinable @inline(__always) public static var evaluating: Flags { Flags(rawValue: 1 << 6) }
        @inlinable @inline(__always) public static var askAgain: Flags { Flags(rawValue: 1 << 7) }
        /// Other operations depend on it.
        @inlinable @inline(__always) public static var hasDependents: Flags { Flags(rawValue: 1 << 8) }
        @inlinable @inline(__always) public static var hasCompletionBlock: Flags { Flags(rawValue: 1 << 9) }
        @inlinable @inline(__always) public static var hasWaiters: Flags { Flags(rawValue: 1 << 10) }
        /// Somebody observes one of its properties.
        @inlinable @inline(__always) public static var observed: Flags { Flags(rawValue: 1 << 11) }
        @inlinable @inline(__always) public static var barrier: Flags { Flags(rawValue: 1 << 12) }
        /// Something besides dependencies may hold it back, which is looked at when it is about to start: see `Admit.swift`.
        @inlinable @inline(__always) public static var gated: Flags { Flags(rawValue: 1 << 26) }
        /// It has reported a failure.
        @inlinable @inline(__always) public static var hasFailed: Flags { Flags(rawValue: 1 << 30) }
        /// Claimed by a thread that has not started it yet. Dependencies still hold it, and a thread that ends it leaves
        /// that to the claiming thread.
        @inlinable @inline(__always) public static var admitting: Flags { Flags(rawValue: 1 << 29) }
        /// It has a place of a bounded queue, and gives it back when it has left.
        @inlinable @inline(__always) public static var bounded: Flags { Flags(rawValue: 1 << 27) }
        /// It has a key, and starts when that has its turn.
        @inlinable @inline(__always) public static var keyed: Flags { Flags(rawValue: 1 << 28) }
        /// No operation to the outside: a barrier, or a job of a task. Not counted, listed, or cancelled.
        @inlinable @inline(__always) public static var unlisted: Flags { Flags(rawValue: 1 << 25) }
        /// `isFinished` was announced while the operation was being added.
        @inlinable @inline(__always) public static var finishAnnounced: Flags { Flags(rawValue: 1 << 13) }
        /// It finished through `main()`, so a queue's progress counts it.
        @inlinable @inline(__always) public static var ranMain: Flags { Flags(rawValue: 1 << 14) }
        /// It was added to a queue, which holds it until it has left.
        @inlinable @inline(__always) public static var queued: Flags { Flags(rawValue: 1 << 15) }
        /// Its queue, or who awaits its value, has it stand at least as high as `lentPriority`.
        @inlinable @inline(__always) public static var inherits: Flags { Flags(rawValue: 1 << 31) }
        /// Its queue is going to cancel it. It does not start until a thread has called `cancel()` for that.
        @inlinable @inline(__always) public static var cancelPromised: Flags { Flags(rawValue: 1 << 60) }
        /// A thread calls `cancel()` for that.
        @inlinable @inline(__always) public static var cancelClaimed: Flags { Flags(rawValue: 1 << 59) }
        /// Its work has begun: it has given its slot back at least once while it executed.
        @inlinable @inline(__always) public static var hasBegun: Flags { Flags(rawValue: 1 << 58) }
    }

    @inlinable @inline(__always)
    public var phase: Phase {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue & 0b111), to: Phase.self) }
        set { rawValue = rawValue & ~0b111 | UInt64(newValue.rawValue) }
    }

    @inlinable @inline(__always)
    public func contains(_ flags: Flags) -> Bool { rawValue & flags.rawValue == flags.rawValue }

    @inlinable @inline(__always)
    public func containsAny(_ flags: Flags) -> Bool { rawValue & flags.rawValue != 0 }

    @inlinable @inline(__always)
    public mutating func insert(_ flags: Flags) { rawValue |= flags.rawValue }

    @inlinable @inline(__always)
    public mutating func remove(_ flags: Flags) { rawValue &= ~flags.rawValue }

    /// The priority its owner gave it.
    @inlinable @inline(__always)
    public var priority: PriorityLane {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue >> 16 & 0b111), to: PriorityLane.self) }
        set { rawValue = rawValue & ~(0b111 << 16) | UInt64(newValue.rawValue) << 16 }
    }

    /// The priority its queue schedules it by: what `queuePriority`, overridden or not, last answered; with `inherits`,
    /// that or what it was lent, whichever is higher.
    @inlinable @inline(__always)
    public var effectivePriority: PriorityLane {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue >> 19 & 0b111), to: PriorityLane.self) }
        set { rawValue = rawValue & ~(0b111 << 19) | UInt64(newValue.rawValue) << 19 }
    }

    /// The quality of service as an index, 0 for never set.
    @inlinable @inline(__always)
    public var serviceIndex: UInt8 {
        get { UInt8(truncatingIfNeeded: rawValue >> 22 & 0b111) }
        set { rawValue = rawValue & ~(0b111 << 22) | UInt64(newValue & 0b111) << 22 }
    }

    /// The number of dependencies that hold it back; fewer than 2²⁶.
    @inlinable @inline(__always)
    public var unfinished: UInt32 {
        get { UInt32(truncatingIfNeeded: rawValue >> 32 & 0x03FF_FFFF) }
        set {
            precondition(newValue <= 0x03FF_FFFF, "an operation has more than 67 million unfinished dependencies")
            rawValue = rawValue & ~(0x03FF_FFFF << 32) | UInt64(newValue) << 32
        }
    }

    /// The highest priority of what waits for it, as far as that was told: `veryLow` if nothing was.
    @inlinable @inline(__always)
    public var lentPriority: PriorityLane {
        get { unsafeBitCast(UInt8(truncatingIfNeeded: rawValue >> 61), to: PriorityLane.self) }
        set { rawValue = rawValue & ~(0b111 << 61) | UInt64(newValue.rawValue) << 61 }
    }
}

// MARK: - What an observer sees

extension Lifecycle {
    @inlinable @inline(__always) public var isCancelled: Bool { contains(.cancelled) }
    @inlinable @inline(__always) public var isExecuting: Bool { phase == .executing }
    @inlinable @inline(__always) public var isFinished: Bool { phase.rawValue >= Phase.ended.rawValue }
    /// It is in a queue, seen from outside: from the first moment of adding until it has left.
    @inlinable @inline(__always) public var isInQueue: Bool { phase == .entering || phase == .enqueued }
    @inlinable @inline(__always) public var isPinned: Bool { contains(.inInbox) || contains(.evaluating) }
    @inlinable @inline(__always)
    public var hasStarted: Bool { phase.rawValue >= Phase.starting.rawValue && !contains(.admitting) }
}
